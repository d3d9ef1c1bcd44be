package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/console/internal/people"
	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/gateway/console/internal/trail"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/nodes"
)

// Visitors identifies the signed-in user of a browser; *signin.SignIn does.
type Visitors interface {
	// Visitor returns the session of a signed-in, enabled user, or an error that wraps
	// storage.ErrNotFound if there is none.
	Visitor(r *http.Request) (storage.Session, error)
	// Proved reports whether a session has proved everything that its user has, including a second factor if there is
	// one. Where there are no second factors, each has.
	Proved(ctx context.Context, v storage.Session) (bool, error)
}

// SignIn asks visitors to sign in; *signin.SignIn does.
type SignIn interface {
	// AskFor answers with the sign-in page, which leads to a path below /console/, with its query.
	AskFor(w http.ResponseWriter, r *http.Request, path string) error
}

// Forms keeps a form while its sender signs in again; *signin.SignIn does.
type Forms interface {
	// KeepForm answers a form, whose body this is and which was shown in a session, with the page that asks its sender
	// to confirm who they are, and says what it does. Then they send it to the same address once more.
	KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string, fields [][2]string) error
	// KeptForm puts a form into the request that names it, uses it up, and returns the session that it was shown in;
	// "" if the request names none.
	KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error)
}

// Nodes lists the processes that serve from the store; *nodes.Node has it.
type Nodes interface {
	List(ctx context.Context) ([]nodes.Info, error)
}

// Lockout lets an address sign in again after too many failures; *signin.SignIn does.
type Lockout interface {
	// Unlock reports whether the address had failed attempts.
	Unlock(ctx context.Context, ip netip.Addr) bool
}

// Users makes users who sign in with a password; *users.StoreUsers does.
type Users interface {
	// Create returns storage.ErrInvalid for invalid fields and storage.ErrExists for a
	// username that is taken; both messages say what to do.
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

// Table knows users by their sub, such as the Users of a host; *storage.Store does.
type Table interface {
	// User returns the user with this sub, or an error that wraps storage.ErrNotFound.
	User(ctx context.Context, sub string) (storage.User, error)
}

// Revoker ends tokens; *oauth.Tokens does.
type Revoker interface {
	// Revoke returns once no token that it covers is accepted in this process.
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// Trail is the audit trail; *gateway.Trail has it.
type Trail interface {
	// NoteNow returns once the event is stored, or why it is not.
	NoteNow(ctx context.Context, e event.Event) error
}

// Notifier tells users of changes to their account and applications, by mail for example.
type Notifier interface {
	// Notify does not wait for the delivery.
	Notify(ctx context.Context, sub string, n event.Notice)
}

// Config holds what New needs.
type Config struct {
	BaseURL  string           // the service's own origin, required: its pages may send requests
	Store    *storage.Store   // required
	Visitors Visitors         // required
	Revoker  Revoker          // required: ends what a deleted application or a disabled user was granted
	Trail    Trail            // required
	Billing  *billing.Billing // required: decides about orders and removes applications; (*gateway.Gateway).Billing

	Users Users // makes users; nil: nobody is made a user here, but by an invitation
	// Table has the users, where they are not those of the Store: who may do what is read there. Without Users their
	// pages are not here then: whoever has the table administers them. nil: the Store has them.
	Table Table

	// Visit is Visitor with the user of the session, as the Store has them, read for this request. nil: the Store is
	// asked once more.
	Visit func(r *http.Request) (storage.Session, storage.User, error)

	SignIn   SignIn        // nil: visitors who are not signed in are refused, and not asked to sign in
	Forms    Forms         // nil: what is typed does not outlive being asked to sign in again
	Lockout  Lockout       // nil: no address is ever locked
	Usage    *usage.Reader // nil: there is nothing of usage
	Registry Registry      // nil: capabilities are not shown
	Bus      Bus           // nil: tools cannot be tried
	Sample   bool          // a sample API is offered, whose calls mcpbus.Upstreams answers by itself
	// every way in, see Ways of signin.Config; nil: no page says that they decide, and nobody is invited
	Ways     access.Ways
	Nodes    Nodes    // nil: no nodes are listed
	Notifier Notifier // nil: nobody is notified
	// make the service read an application or a user anew; nil: it notices within seconds
	ForgetApp  func(clientID string)
	ForgetUser func(sub string)
	Origins    []string // other origins whose pages may send requests, with their visitor's cookie

	Archive  Archive                           // the audit trail as it is read; nil: it is not shown
	Keys     Keys                              // nil: the signing keys are not shown
	Vitals   func(ctx context.Context) []Vital // what the service is well by; nil: the store and the process alone
	Settings func() []Setting                  // what the process was started with; nil: the stored settings alone
	Stored   func() Server                     // what the records are in; nil, or without a Kind: it is not shown
	// what counts for all nodes; without a Kind: each counts alone; nil: it is not shown
	Counters func() Server

	// Delays are those of attempts at accounts at which too many have failed, as *signin.SignIn knows them; nil: no
	// account is ever delayed.
	Delays interface {
		// WaitUntil returns until when attempts wait; zero: they do not.
		WaitUntil(ctx context.Context, u storage.User) (until time.Time, known bool)
		// UnlockUser reports whether there were failures, which are forgotten.
		UnlockUser(ctx context.Context, u storage.User) bool
	}
	// Passwords lets administrators give a user a new password; *users.StoreUsers does. nil: they cannot.
	Passwords interface {
		// SetPassword returns storage.ErrNotFound for a user who does not sign in with a password.
		SetPassword(ctx context.Context, sub, password string) error
	}

	// the path where users add second factors; administrators without one are urged to go there. "": they are not
	FactorsPage    string
	InvitationPage string // the address where people use an invitation, see signin.Config; "": it is not shown

	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

// Console answers below /api/console. Make it with New.
type Console struct {
	c        Config
	server   *ui.Server
	recorder admin.Recorder
	trail    *trail.Trail
	names    *ui.Names
	finder   *ui.Finder
	stash    *stash.Stash
	users    *people.People
}

// New makes a Console. It reports everything that is wrong with the Config at once.
func New(_ context.Context, c Config) (*Console, error) {
	var errs []error
	for name, missing := range map[string]bool{
		"Store is missing": c.Store == nil, "Visitors is missing: use oauth/signin": c.Visitors == nil,
		"Revoker is missing: use oauth.OpenTokens":           c.Revoker == nil,
		"Trail is missing: use gateway.OpenTrail":            c.Trail == nil,
		"Billing is missing: use (*gateway.Gateway).Billing": c.Billing == nil,
	} {
		if missing {
			errs = append(errs, errors.New(name))
		}
	}
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	if c.Table == nil && c.Store != nil {
		c.Table = c.Store
	}
	auth := consoleauth.Config{BaseURL: c.BaseURL, Origins: c.Origins, Visitors: c.Visitors, Visit: c.Visit,
		Users: c.Table, Groups: c.Store, ClientIP: c.ClientIP}
	programs, err := consoleauth.New(auth)
	if err != nil {
		errs = append(errs, err)
	}
	auth.Origins, auth.Types = nil, []string{"application/x-www-form-urlencoded", "multipart/form-data"}
	people, _ := consoleauth.New(auth) // what is wrong is known
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, fmt.Errorf("console: %w", errors.Join(errs...))
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.ForgetUser == nil {
		c.ForgetUser = func(string) {}
	}
	s := &Console{c: c, recorder: admin.Recorder{Trail: c.Trail, Notifier: c.Notifier}}
	records := withTable{c.Store, c.Table}
	s.stash = stash.New(c.Store)
	s.names, s.finder = ui.NewNames(records), ui.NewFinder(records)
	s.trail, s.users = s.auditTrail(), s.people()
	s.server = ui.New(ui.Config{Programs: programs, People: people, Tickets: c.Store, SignIn: c.SignIn, Forms: c.Forms,
		Names: s.names, Stash: s.stash, MCP: s.mcp(), Log: c.Log}, s.parts()...)
	return s, nil
}

func (s *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.server.ServeHTTP(w, r) }

// Patterns returns the patterns that are served here, as http.ServeMux writes them.
func (s *Console) Patterns() []string { return s.server.Patterns() }

// Mount registers the endpoints with a router, such as an http.ServeMux.
func (s *Console) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle(ui.Root, s)
	for _, name := range s.server.Names() {
		mux.Handle("/api/console/"+name, s)
		mux.Handle("/api/console/"+name+"/", s)
	}
}

// ExemptPaths returns the paths of the pages' style and script, which no rate limit of a gateway should count.
func ExemptPaths() []string { return ui.ExemptPaths() }

// Forget drops the name of a user (a sub) that was erased elsewhere in this process.
func (s *Console) Forget(sub string) { s.names.Forget(sub) }

// Close ends a verification of the audit trail that runs.
func (s *Console) Close(context.Context) error {
	s.trail.Close()
	return nil
}
