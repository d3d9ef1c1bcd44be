package signin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage/driver"
)

// Who may become a user by themselves.
const (
	SignUpClosed     = "closed"     // nobody
	SignUpOpen       = "open"       // anybody
	SignUpInvitation = "invitation" // who brings the code of a storage.Invitation
)

// members is what people do about their own accounts. What its parts are missing for is
// not offered.
type members struct {
	outbox    *outbox
	notices   notices
	mailer    Mailer
	emails    users.EmailUsers    // nil: nobody signs in by mail
	passwords users.PasswordUsers // nil: nobody changes a password
	signUps   users.SignUpUsers   // nil: nobody signs up
	revoker   Revoker
	signUp    string
	site      string // what mails call the service
	errands   []*errand
	helps     []way // on the sign-in page
	changes   []way // on the page of who is signed in
}

func (s *SignIn) enableFeatures(ctx context.Context, c Config) {
	base, _ := url.Parse(c.BaseURL) // it has been checked
	m := &s.members
	*m = members{outbox: newOutbox(ctx, s.log), mailer: c.Mailer, revoker: c.Revoker, signUp: cmp.Or(c.SignUp, SignUpClosed), site: base.Host}
	if c.Revoker != nil {
		m.passwords, _ = s.users.(users.PasswordUsers)
	}
	if m.signUp != SignUpClosed {
		m.signUps, _ = s.users.(users.SignUpUsers)
	}
	if c.Mailer != nil {
		m.emails, _ = s.users.(users.EmailUsers)
	}
	if m.emails != nil {
		s.offered = append(s.offered, way{Path: enterErrand.Path, Label: "Sign in with e-mail"})
		m.errands = []*errand{enterErrand, linkErrand}
		link := way{Path: linkErrand.Path, Label: "Confirm an e-mail address"}
		m.changes, s.linkable = append(m.changes, link), append(s.linkable, link)
	}
	if m.emails != nil && m.passwords != nil {
		m.errands = append(m.errands, resetErrand)
		m.helps = append(m.helps, way{Path: resetErrand.Path, Label: "Forgotten your password?"})
	}
	if m.passwords != nil {
		m.changes = append(m.changes, way{Path: changePath, Label: "Change your password"})
	}
	if m.signUps != nil {
		m.helps = append(m.helps, way{Path: joinPath, Label: "Create an account"})
	}
}

func (s *SignIn) memberRoutes() []reply.Route {
	both := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	var all []reply.Route
	for _, e := range s.members.errands {
		all = append(all,
			reply.Route{Path: e.Path, Methods: both, Fail: failPage, Handle: func(w http.ResponseWriter, r *http.Request) error { return s.serveAddress(w, r, e) }},
			reply.Route{Path: e.codePath(), Methods: both, Fail: failPage, Handle: func(w http.ResponseWriter, r *http.Request) error { return s.serveCode(w, r, e) }},
		)
	}
	if s.members.passwords != nil {
		all = append(all,
			reply.Route{Path: changePath, Methods: both, Handle: s.serveChange, Fail: failPage},
			reply.Route{Path: changedPath, Methods: both[:2], Handle: s.sayChanged, Fail: failPage},
		)
	}
	if s.members.signUps != nil {
		all = append(all, reply.Route{Path: joinPath, Methods: both, Handle: s.serveJoin, Fail: failPage})
	}
	return all
}

// spare lets an address have one more mail sent or user made, or says how long to wait.
func (s *SignIn) spare(r *http.Request) (wait time.Duration) {
	return s.rates.ByIP.Take(network.Of(s.peer(r)))
}

// signOutEverywhere ends a user's sessions and everything they granted before now.
func (s *SignIn) signOutEverywhere(ctx context.Context, sub string) error {
	return errors.Join(
		s.endSessions(ctx, sub, every),
		s.members.revoker.Revoke(ctx, driver.Revocation{Kind: driver.RevokeUser, ID: sub, Before: time.Now().UTC()}),
	)
}
