package consoleauth

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"slices"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/storage"
)

// Visitors knows who sits in front of the browser; *signin.SignIn does.
type Visitors interface {
	// Visitor returns the session of a signed-in, enabled user, or an error that wraps
	// storage.ErrNotFound if nobody is signed in.
	Visitor(r *http.Request) (storage.Session, error)
	// Proved reports whether a session has proved everything that its user has, including a second factor if there is
	// one. Where there are no second factors, each has.
	Proved(ctx context.Context, v storage.Session) (bool, error)
}

// Users knows the roles of users; *storage.Store has it.
type Users interface {
	// User returns the user with this sub, or an error that wraps storage.ErrNotFound.
	User(ctx context.Context, sub string) (storage.User, error)
}

// Config holds the parameters of New.
type Config struct {
	BaseURL  string   // the service's own origin, whose pages may send requests
	Origins  []string // others whose pages may
	Visitors Visitors
	Users    Users
	Groups   admin.Groups // of which somebody may be a manager; nil: there are none
	// Visit is Visitor with the user of the session, as the Users have them, read for this request. nil: the Users are
	// asked once more.
	Visit func(r *http.Request) (storage.Session, storage.User, error)
	Types []string // media types of bodies beside application/json

	ClientIP func(*http.Request) netip.Addr // for the audit trail and notices; nil: addresses are not known
}

// Guard decides who may use the console.
type Guard struct {
	visitors   Visitors
	visit      func(r *http.Request) (storage.Session, storage.User, error)
	sameOrigin *http.CrossOriginProtection
	types      []string
	groups     admin.Groups
	clientIP   func(*http.Request) netip.Addr
}

// New makes a Guard. The error names every origin that is none.
func New(c Config) (*Guard, error) {
	g := &Guard{visitors: c.Visitors, visit: c.Visit, sameOrigin: http.NewCrossOriginProtection(),
		types: append([]string{"application/json"}, c.Types...), groups: c.Groups, clientIP: c.ClientIP}
	if g.visit == nil {
		g.visit = func(r *http.Request) (v storage.Session, u storage.User, err error) {
			if v, err = c.Visitors.Visitor(r); err == nil {
				u, err = c.Users.User(r.Context(), v.UserID)
			}
			return v, u, err
		}
	}
	if g.clientIP == nil {
		g.clientIP = func(*http.Request) netip.Addr { return netip.Addr{} }
	}
	var errs []error
	errs = append(errs, origin.Check("BaseURL", c.BaseURL))
	for _, o := range c.Origins {
		errs = append(errs, origin.CheckPage("Origins", o))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, o := range append([]string{c.BaseURL}, c.Origins...) {
		errs = append(errs, g.sameOrigin.AddTrustedOrigin(o))
	}
	return g, errors.Join(errs...)
}

// Check is one more condition, such as admin.Actor.Admin.
type Check func(admin.Actor) error

// Actor returns the user who sends a request, before anything of its body is read. It fails with
// 401 without a session, with 403 for a user who has no role for it, for a request from another
// site's page and for one that does not pass the checks, with 400 for a body of another type, and
// with FactorFirst, to read as well, for a user who has not used their second factor: a trusted
// browser does not spare it here. With FactorFirst it returns the admin.Actor too. An auditor has a
// role for reading alone, whatever the checks say.
func (g *Guard) Actor(r *http.Request, checks ...Check) (admin.Actor, error) {
	return g.pass(r, admin.Actor.HasRole, checks)
}

// Owner is Actor for an endpoint that is for users without a role, too: one that shows and changes what
// belongs to the sender of the request. The endpoint asks [admin.Actor.Sees] and [admin.Actor.Changes].
func (g *Guard) Owner(r *http.Request, checks ...Check) (admin.Actor, error) {
	return g.pass(r, func(admin.Actor, bool) error { return nil }, checks)
}

func (g *Guard) pass(r *http.Request, role func(who admin.Actor, reads bool) error, checks []Check) (admin.Actor,
	error) {
	a, err := g.visitor(r)
	if err != nil {
		return a, err
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err := role(a, reads); err != nil {
		return a, err
	}
	if err := g.sameOrigin.Check(r); err != nil {
		return a, CrossOrigin.Because(err)
	}
	if !reads {
		checks = append([]Check{admin.Actor.Writer}, checks...)
	}
	for _, check := range checks {
		if err := check(a); err != nil {
			return a, err
		}
	}
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(g.types, kind) {
			return a, NotJSON
		}
	}
	return a, a.Proven()
}

// visitor returns who sits in front of the browser. Session and user are read for each request, so that
// what has changed counts at once.
func (g *Guard) visitor(r *http.Request) (admin.Actor, error) {
	session, user, err := g.visit(r)
	if errors.Is(err, storage.ErrNotFound) || err == nil && user.Disabled {
		return admin.Actor{}, NotSignedIn
	}
	if err != nil {
		return admin.Actor{}, err
	}
	proved, err := g.visitors.Proved(r.Context(), session)
	who := admin.Actor{
		User: user, AuthTime: session.FreshFrom(), Session: session.ID, Multifactor: session.Multifactor(), Proved: proved,
		Request: admin.RequestOf(r, g.clientIP(r)),
	}
	if g.groups != nil {
		who.Manages = admin.Managing(r.Context(), g.groups, user.Sub)
	}
	return who, err
}
