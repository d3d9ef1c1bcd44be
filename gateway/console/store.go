package console

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store holds the methods of storage that the console uses; *storage.Store has it.
type Store interface {
	appStore
	settledStore
	clientStore
	userStore
	sessionStore
	grantStore
	credentialStore
	capabilityStore
	accessStore
	serviceStore
	EndLogins(ctx context.Context, some ...storage.Login) error
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
}

// appStore keeps applications and their orders.
type appStore interface {
	App(ctx context.Context, id string) (storage.App, error)
	AppsAndUsers(ctx context.Context, ids, subs []string) ([]storage.App, []storage.User, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	FindApps(ctx context.Context, prefix, owner, from string, n int) ([]storage.App, string, error)
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	OwnedBy(ctx context.Context, owner string, apps, orders, capabilities int) (_ []storage.App, more bool,
		_ []storage.Order, _ []storage.Capability, err error)
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, from string, n int) ([]storage.Order, string, error)
}

// settledStore keeps what settles the months of applications, removed ones included.
type settledStore interface {
	AppToSettle(ctx context.Context, id string) (storage.Settling, error)
	AppsToSettle(ctx context.Context, owner, after string, n int) (storage.Settling, error)
	ClosedAppsToSettle(ctx context.Context, owner, after string, n int) (storage.Settling, error)
}

// clientStore keeps clients that nobody registered here, and what an operator has said on their hosts.
type clientStore interface {
	Clients(ctx context.Context, from string, n int) ([]storage.App, string, error)
	RemoveClient(ctx context.Context, a storage.App) error
	ClientHost(ctx context.Context, host string) (client.Host, error)
	ClientHostsFrom(ctx context.Context, from string, n int) ([]client.Host, string, error)
	SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error)
	ForgetClientHost(ctx context.Context, h client.Host) error
	MayHaveStrangers(ctx context.Context) (bool, error) // whether somebody may have become one without an operator
}

// userStore keeps users, and erases them.
type userStore interface {
	// Users, and where they are signed in.
	User(ctx context.Context, sub string) (storage.User, error)
	Users(ctx context.Context, from string, n int) ([]storage.User, string, error)
	SaveUserKeepingAdmin(ctx context.Context, u storage.User) (storage.User, error)
	FindUsers(ctx context.Context, prefix, from string, n int) ([]storage.User, string, error)
	FindUsersWithRole(ctx context.Context, role, prefix, from string, n int) ([]storage.User, string, error)
	SaveInvitation(ctx context.Context, i storage.Invitation) (storage.Invitation, error)
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	// What erases a user.
	CountOwned(ctx context.Context, sub string) (apps, capabilities int, err error)
	EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
	SaveUser(ctx context.Context, u storage.User) (storage.User, error)
}

// sessionStore keeps where users are signed in.
type sessionStore interface {
	Session(ctx context.Context, id string) (storage.Session, error)
	FindSessions(ctx context.Context, q storage.SessionQuery, from string, n int) ([]storage.Session, string, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	SID(ctx context.Context, root, appID string) (string, error)
	EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error
}

// grantStore keeps what users have allowed applications.
type grantStore interface {
	// What users have allowed applications, and their API keys.
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	ConsentsOf(ctx context.Context, sub, from string, n int) ([]storage.Consent, string, error)
	ConsentsOfApp(ctx context.Context, appID, from string, n int) ([]storage.Consent, string, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	UserGrants(ctx context.Context, sub string) (storage.User, []storage.Consent, []storage.OpenID, error)
	EndOpenID(ctx context.Context, appID, sub string, at time.Time) error
}

// credentialStore keeps second factors and API keys.
type credentialStore interface {
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	RemoveAPIKey(ctx context.Context, id string) error
}

// capabilityStore keeps capabilities, their tools, and what is on its way to their webhooks.
type capabilityStore interface {
	// Capabilities, their tools, and what is on its way to their webhooks.
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	Held(ctx context.Context, member string) (toolplan.Held, error)
	Deliveries(ctx context.Context, member string) ([]storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
}

// accessStore keeps who may use which tools.
type accessStore interface {
	// Who may use which tools.
	Access(ctx context.Context, member string) (access.List, error)
	AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error)
	SaveAccess(ctx context.Context, l access.List) (access.List, error)
	Bundle(ctx context.Context, name string) (access.Bundle, error)
	Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error)
	SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error)
	DeleteBundle(ctx context.Context, b access.Bundle) error
}

// serviceStore keeps the switches that are changed while the service runs, and tells how the store is.
type serviceStore interface {
	// The switches that are changed while the service runs, and how the store is.
	Settings(ctx context.Context) ([]storage.Setting, error)
	Set(ctx context.Context, name, value string) error
	SealedWith(ctx context.Context) (string, error)
	Rekeying(ctx context.Context) (bool, error)
	Ready(ctx context.Context) error
	// Counts returns stored numbers, and counts nothing.
	Counts(ctx context.Context) (storage.Counts, error)
	// SaveTicket keeps the ids of forms that were sent.
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
}
