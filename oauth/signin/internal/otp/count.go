package otp

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Emails with a code that go to one address (decision 56). Only the known browsers of its user use
// up their own number.
const (
	Pause     = time.Minute // between two of one requester
	PerHour   = 5           // of one requester
	clockSkew = time.Minute // what the clocks of machines may differ by
)

// Strangers have at most 130 emails an hour sent to one address. The first 15 are for anybody, and the others for
// newcomers alone: nobody uses them up with many addresses of few networks. One /24 or /48 has 20 sent, one /16 or /32
// has 25, and each of the others takes a /16 or /32 that had none, so it takes more than a hundred of these to leave
// none for one from elsewhere. So many guessers at the codes have fewer tries at each: 335 an hour in all.
const (
	perRepeats = 15  // beyond which none is sent for those who had some
	perSites   = 25  // beyond which codes have fewer tries
	perAddress = 130 // beyond which none is sent, but for a known browser

	lastTries = 2 // of a code beyond perSites
)

// perNewcomers are the numbers beyond which none is sent for a network that had none, the widest first: a /16 or /32,
// a /24 or /48, an address or a household of IPv6.
var perNewcomers = [...]int{perAddress, perSites, 20}

// requesterKnown stands for the known browsers of an address's user, and requesterElsewhere for clients whose
// address is not known. Any other requester is a network.
const (
	requesterKnown     = "known"
	requesterElsewhere = "elsewhere"
)

func networkRequester(client netip.Prefix) string {
	if !client.IsValid() {
		return requesterElsewhere
	}
	return client.String()
}

// requesterOf returns the requester of an email to an address. It takes as long for an address
// that nobody has.
func (s *Codes) requesterOf(r *http.Request, address string) (string, error) {
	unknown := networkRequester(network.Of(s.Peer(r)))
	if len(session.MarksOf(r)) == 0 && len(session.CookiesOf(r)) == 0 {
		return unknown, nil
	}
	u, err := s.Emails.ByEmail(r.Context(), address)
	if errors.Is(err, storage.ErrNotFound) {
		if _, err = s.Users.User(r.Context(), "nobody"); errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		u = storage.User{}
	}
	if err != nil {
		return "", err
	}
	if s.Sessions.Familiar(r, u.Sub) && u.Sub != "" {
		return requesterKnown, nil
	}
	return unknown, nil
}

// CountKind is the kind of the tickets that count the emails to an address.
const CountKind = "mailed"

// count counts one more email to an address and says how many tries its code has, or returns how long to wait for it.
// Known and unknown addresses are counted alike, in the store: a restart forgets nothing.
func (s *Codes) count(ctx context.Context, address, requester string) (tries int, wait time.Duration, err error) {
	id := handle.Hash(CountKind + ":" + address)
	for {
		t, err := s.Store.Ticket(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, 0, err
		}
		now := time.Now().UTC()
		sent := parseSent(t.State, now)
		if wait := sent.wait(requester, now); wait > 0 {
			return 0, wait, nil
		}
		t.ID, t.Kind, t.State = id, CountKind, append(sent, sentEmail{now, requester}).String()
		t.CreatedAt, t.ExpiresAt = now, now.Add(time.Hour)
		_, err = s.Store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) {
			continue // another request for the same address: look at what it has counted
		}
		return sent.tries(requester), 0, err
	}
}

// sentEmail is one email that was sent.
type sentEmail struct {
	at        time.Time
	requester string // "": written by an older version
}

// sentEmails are the emails to one address, the oldest first. There are never more than the total
// and those of the known browsers.
type sentEmails []sentEmail

// wait returns how long a requester must wait for another one.
func (all sentEmails) wait(requester string, now time.Time) (wait time.Duration) {
	own := all.of(func(by string) bool { return by == requester })
	if n := len(own); n > 0 {
		wait = Pause - now.Sub(own[n-1].at)
	}
	wait = max(wait, own.until(PerHour, now))
	if requester != requesterKnown {
		wait = max(wait, all.untilShared(requester, now))
	}
	return max(wait, 0)
}

// untilShared returns how long a stranger must wait for one of those that all strangers share.
func (all sentEmails) untilShared(requester string, now time.Time) time.Duration {
	wait := all.until(perRepeats, now)
	around := networksAround(requester)
	for i := range min(len(around), len(perNewcomers)) {
		theirs := all.of(func(by string) bool { return in(by, around[i]) })
		wait = min(wait, max(all.until(perNewcomers[i], now), theirs.until(1, now)))
	}
	return wait
}

// tries returns how many tries the code of one more has.
func (all sentEmails) tries(requester string) int {
	if len(all) >= perSites && requester != requesterKnown {
		return lastTries
	}
	return Tries
}

func (all sentEmails) of(whose func(requester string) bool) (some sentEmails) {
	for _, m := range all {
		if whose(m.requester) {
			some = append(some, m)
		}
	}
	return some
}

// until returns how long it takes until fewer than a number of them are left of the hour.
func (all sentEmails) until(fewer int, now time.Time) time.Duration {
	if n := len(all); n >= fewer {
		return max(0, time.Hour-now.Sub(all[n-fewer].at))
	}
	return 0
}

// networksAround returns the networks around a requester, the widest first; around what is none, the zero Prefix.
func networksAround(requester string) []netip.Prefix {
	client, _ := netip.ParsePrefix(requester)
	all := network.Around(client)
	slices.Reverse(all)
	return all
}

// in reports whether a requester is in a network that networksAround returns.
func in(requester string, around netip.Prefix) bool {
	if !around.IsValid() {
		return requester == requesterElsewhere
	}
	client, err := netip.ParsePrefix(requester)
	return err == nil && around.Contains(client.Addr())
}

// parseSent reads the emails of the last hour; what is none is left out, and so is one of the
// future: a clock that was ahead has written it, and would keep the address waiting until then.
func parseSent(text string, now time.Time) (all sentEmails) {
	for word := range strings.FieldsSeq(text) {
		number, requester, _ := strings.Cut(word, "@")
		n, _ := strconv.ParseInt(number, 10, 64)
		at := time.Unix(0, n).UTC()
		if ago := now.Sub(at); ago < time.Hour && ago >= -clockSkew {
			all = append(all, sentEmail{at, requester})
		}
	}
	return all
}

// String writes the sendings as sendingsIn reads them.
func (all sentEmails) String() string {
	words := make([]string, len(all))
	for i, m := range all {
		words[i] = strconv.FormatInt(m.at.UnixNano(), 10) + "@" + m.requester
	}
	return strings.Join(words, " ")
}

func waitText(l page.Lang, wait time.Duration) string {
	if wait <= Pause {
		return l.T("A code was asked for a moment ago. Look for it in your mail, also among spam, or ask again in %s "+
			"seconds.", web.InSeconds(wait))
	}
	return l.T("Too many codes were asked for. Ask again in %s minutes.", strconv.Itoa(int(math.Ceil(wait.Minutes()))))
}

// fromUnknown reports whether an email counts among those of strangers: it was asked for by
// nobody who has signed in, in a browser that the user of its address is not known by.
func fromUnknown(requester string, t storage.Ticket) bool {
	return requester != requesterKnown && t.UserID == ""
}
