package limits

import (
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Requests a minute. A page asks 30 times; one address may be that of a whole office.
const (
	PollsPerCode = 60
	PollsPerIP   = 600
	TicketsPerIP = 60
)

// One address has so many emails sent or users made in ten minutes; a school or an office
// is one address too.
const (
	PerIP     = 30
	perIPTime = 10 * time.Minute
)

// One user does so much in ten minutes of each of what costs more than a look: changes of the profile,
// downloads of their data, attempts to delete the account.
const (
	PerUser     = 10
	perUserTime = 10 * time.Minute
)

// Lifetimes of unfinished sign-ins: a code by email, a code to scan, a visit to a provider, a device that waits.
const (
	CodeLife   = 10 * time.Minute
	ScanLife   = 120 * time.Second
	VisitLife  = 10 * time.Minute
	DeviceLife = 10 * time.Minute
)

// Unfinished tickets of unknown clients that may be open before it matters where a client comes from. An email is
// two tickets. A flood from a hundred networks as wide as a provider's has fewer emails open than may wait to be
// sent (package outbox), so it keeps no other email from being written.
const (
	openEmailsFree  = 480
	openScansFree   = 2048
	openVisitsFree  = 2048
	openDevicesFree = 2048
)

// Rates holds all limits of sign-in beside the lock and the delay.
type Rates struct {
	Tickets, ByIP AddressLimiter // of an address: tickets begun, emails and new users
	Polls         Limiter        // of an address
	PollsOfCode   Limiter        // of one code
	Acts          Limiter        // of one user (and what they do)

	// of strangers: emails with a code, codes to scan, visits to a provider, devices that wait
	Emails, Scans, Visits, Devices *OpenTickets

	UserCodes *UserCodes       // typed by users
	Shared    counters.Counter // what several processes count by; nil: this one counts alone
}

// NewRates makes the Rates. Tickets and ByIP are counted by shared, if there is one; the others in
// this process: they bound what is stored, or requests that cost little.
func NewRates(shared counters.Counter) Rates {
	return Rates{
		Tickets:     NewAddressLimiter(TicketsPerIP, time.Minute, shared, "tickets"),
		Polls:       newLimiter(PollsPerIP, time.Minute, "polls"),
		ByIP:        NewAddressLimiter(PerIP, perIPTime, shared, "mails"),
		Acts:        newLimiter(PerUser, perUserTime, "acts"),
		PollsOfCode: newLimiter(PollsPerCode, time.Minute, "polls"),
		Emails:      newOpenTickets(openEmailsFree, CodeLife),
		Scans:       newOpenTickets(openScansFree, ScanLife),
		Visits:      newOpenTickets(openVisitsFree, VisitLife),
		Devices:     newOpenTickets(openDevicesFree, DeviceLife),
		UserCodes:   newUserCodes(shared),
		Shared:      shared,
	}
}
