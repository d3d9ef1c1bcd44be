package signin

import (
	"context"
	"time"

	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Audit records sign-ins and changes of accounts; *gateway.Trail implements it.
type Audit interface {
	// Note takes an event and does not wait until it is stored.
	Note(e event.Event)
	// NoteNow returns once the event is stored, or the error that kept it from being stored.
	// Changes of an account are answered after it.
	NoteNow(ctx context.Context, e event.Event) error
}

// Mailer sends emails; see package mailer for one over SMTP. It must return soon after its context
// has ended. The recipient is one address, the subject one line, the text plain. A failed email is
// retried for as long as it is of use, unless the error has a method Permanent() bool that returns
// true.
type Mailer interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Store keeps everything that sign-in needs; *storage.Store implements it.
type Store interface {
	users.Store // not used if the Users are others
	users.DataStore
	TicketStore
	AccountStore
	DeviceStore
	MailStore
	users.GroupStore
	App(ctx context.Context, id string) (storage.App, error)
	Session(ctx context.Context, id string) (storage.Session, error)
	SaveSession(ctx context.Context, v storage.Session) (storage.Session, error)
	SID(ctx context.Context, root, appID string) (string, error)
	// EndSession removes a session, and queues deliveries in the same step.
	EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	// HMACKey returns a persistent key, the same for every process over the store.
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// ConsentStore keeps the users' consents; *storage.Store implements it.
type ConsentStore interface {
	// Consent returns what a user (a sub) has allowed an application, or storage.ErrNotFound.
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	// SaveConsent writes a consent; storage.ErrConflict or ErrExists if it has changed since
	// it was read.
	SaveConsent(ctx context.Context, c storage.Consent) (storage.Consent, error)
	// KeepClient marks that a user has consented to an application that nobody registered,
	// which ends otherwise.
	KeepClient(ctx context.Context, id string) error
}

// Tools knows which tools users may use; *mcpbus.Bus implements it.
type Tools interface {
	// Offer returns the tools of a scope that a user (a sub) may use through an application.
	Offer(ctx context.Context, sub, clientID, scope string) (access.Offer, error)
}

// AccountStore keeps the records that the account page shows; *storage.Store implements it.
type AccountStore interface {
	ConsentStore
	Consents(ctx context.Context, sub string) ([]storage.Consent, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	users.LoginStore // not used if the Users have Logins
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	EndOpenID(ctx context.Context, appID, sub string, at time.Time) error
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	RemoveAPIKey(ctx context.Context, id string) error
	// Factors returns the second factors of a user (a sub): an empty record if the user has none.
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	// SaveFactors writes factors that have been read before; storage.ErrConflict if they have changed since.
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
}

// DeviceStore keeps what comes of devices that users have allowed; *storage.Store implements it.
type DeviceStore interface {
	// EnsureOpenID returns the openid of a user for an application, which it makes if there is none.
	EnsureOpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	// KeepClient marks that a user has consented to an application that nobody registered.
	KeepClient(ctx context.Context, id string) error
	// Admits reports whether a user may use an application.
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
	// Later returns the date of a grant that is made now.
	Later(now time.Time) time.Time
}

// Revoker revokes tokens; *oauth.Tokens implements it.
type Revoker interface {
	// Revoke revokes tokens at once. If Until is zero, it chooses one.
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// TicketStore keeps sign-ins that are not finished yet.
type TicketStore interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	TicketsAbout(ctx context.Context, kind, subject string) ([]storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
}

// MailStore keeps the emails that are promised until they are handed over. It is used if there is a
// Mailer.
type MailStore interface {
	AddMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
	Mail(ctx context.Context, id string) (storage.Mail, error)
	SaveMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
	DeleteMail(ctx context.Context, m storage.Mail) error
	DueMails(ctx context.Context, by time.Time, n int) ([]storage.Mail, error)
	CountMails(ctx context.Context, kind, of string, n int) (int, error)
}
