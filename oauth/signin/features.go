package signin

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/apikeys"
	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/device"
	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/federation"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/kept"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/notice"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/event"
)

func (c Config) filled() Config {
	if c.Users.Users == nil {
		c.Users = users.New(c.Store, c.Passwords).Host()
	}
	if c.ClientIP == nil {
		c.ClientIP = peerAddress
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.RefreshLifetime = cmp.Or(c.RefreshLifetime, 30*24*time.Hour)
	if c.Lockout == nil {
		c.Lockout = counters.NewAddresses(c.Lock)
	}
	if c.Delays == nil {
		c.Delays = counters.NewAccounts()
	}
	c.SignUp = cmp.Or(c.SignUp, SignUpClosed)
	c.DeleteAccount = cmp.Or(c.DeleteAccount, DeleteSelf)
	return c
}

func (c Config) offered() users.Host {
	can := c.Users
	if can.Logins == nil {
		can.Logins = c.Store
	}
	if c.Mailer == nil {
		can.Emails = nil
	}
	if c.Revoker == nil {
		can.Passwords = nil
	}
	if c.SignUp == SignUpClosed {
		can.SignUps = nil
	}
	return can
}

// base makes the part that all sign-in methods share, and the second factor too.
func (c Config) base(o *outbox.Outbox) (*flow.Base, error) {
	base, _ := url.Parse(c.BaseURL) // it has been checked
	secure := base.Scheme == "https"
	can := c.offered()
	turns := &attempt.Turns{Delays: c.Delays, Counter: c.Counter}
	if c.Counter == nil {
		turns.Counter = counters.NewCounter()
	}
	p, err := web.New(c.Store, c.BaseURL)
	if err != nil {
		return nil, err
	}
	p.Passkeys = passkey.PartyOf(c.BaseURL) != nil
	written := trail.New(c.Audit, c.ClientIP)
	sessions := c.sessions(secure, written)
	return &flow.Base{
		Pages: p, Sessions: sessions, Trail: written, Guard: c.Lockout, Rates: limits.NewRates(c.Counter), Peer: c.ClientIP,
		Log: c.Log,
		Notices: &notice.Notices{
			Outbox: o, Users: c.Users, Store: c.Store, Sessions: sessions, Peer: c.ClientIP, Log: c.Log, Base: c.BaseURL,
			Site: base.Host,
		},
		Attempts: &attempt.Attempts{
			Users: c.Users, Named: can.Named, Emails: can.Emails, Sessions: sessions, Guard: c.Lockout,
			Turns: turns, Firsts: counters.NewAccounts(), Peer: c.ClientIP, Log: c.Log,
		},
	}, nil
}

func (c Config) sessions(secure bool, written *trail.Trail) *session.Sessions {
	return &session.Sessions{
		Store: c.Store, Users: c.Users, Peer: c.ClientIP, Log: c.Log, Secure: secure,
		Idle: cmp.Or(c.SessionIdle, 7*24*time.Hour), Max: cmp.Or(c.SessionMax, 30*24*time.Hour),
		Ended: func(r *http.Request, v storage.Session) {
			written.Write(r, event.Account, event.Event{User: v.UserID,
				Detail: "session ended: the oldest of more than " + strconv.Itoa(session.MaxPerUser)})
		},
	}
}

// features makes the features that the Config enables, links them on the pages, and returns their
// routes. A feature whose dependencies are missing is not offered.
func (s *SignIn) features(c Config) (routes []reply.Route, err error) {
	has, pages, ways := c.offered(), s.steps.Pages, c.Ways()
	accountPage := &account.Account{Steps: s.steps, Store: c.Store, Logins: has.Logins, Revoker: c.Revoker, Place: c.Place,
		Console: c.Console}
	routes = []reply.Route{
		{Path: web.FormPath, Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handle: s.serve,
			Fail: web.Fail},
	}
	s.kept = &kept.Forms{Steps: s.steps, Store: c.Store, Secure: s.factors.Secure, Acts: keptActs}
	pages.Kept = s.kept.About
	own := &enrol.Page{Factors: s.factors, Steps: s.steps, Site: strings.SplitN(c.BaseURL, "://", 2)[1]}
	accountPage.Changes = append(accountPage.Changes, web.Link{Path: enrol.Path, Label: "Two-step sign-in"})
	accountPage.Warnings = append(accountPage.Warnings, s.factorWarnings)
	own.Named = passkey.NamedBase(c.BaseURL)
	if pages.Passkeys {
		passkeys := &passkey.Passkeys{Steps: s.steps, Factors: s.factors, Store: c.Store, Users: c.Users, Codes: enrol.Path,
			Party: passkey.PartyOf(c.BaseURL)}
		own.Passkeys = web.Link{Path: passkey.Path, Label: "Passkeys"}
		accountPage.Changes = append(accountPage.Changes, own.Passkeys)
		routes = append(routes, passkeys.Routes()...)
	}
	routes = slices.Concat(routes, web.Scripts(), s.kept.Routes(), s.factors.Routes(), own.Routes(), s.consents.Routes())
	s.devices = &device.Devices{Steps: s.steps, Store: c.Store, Consents: s.consents}
	routes = append(routes, s.devices.Routes()...)
	if !c.NoQR {
		codes := &scan.Scans{Steps: s.steps, Store: c.Store, Users: c.Users, Base: c.BaseURL}
		pages.SignInLinks = append(pages.SignInLinks, web.Link{Path: web.QRPath, Label: "Scan with your phone",
			OtherDevice: true, Method: web.MarkQR})
		routes = append(routes, codes.Routes()...)
	}
	change := &newpassword.Page{Steps: s.steps, Passwords: has.Passwords, Marker: has.Marks, Revoker: c.Revoker}
	codes := &otp.Codes{
		Steps: s.steps, Store: c.Store, Users: c.Users, Emails: has.Emails, Passwords: has.Passwords, Outbox: s.outbox,
		Site: strings.SplitN(c.BaseURL, "://", 2)[1], SignUp: ways.Of(storage.LoginEmail), Invitations: has.Invited,
		ChangePassword: change.Change,
	}
	if has.Emails != nil {
		link := web.Link{Path: otp.LinkFlow.Path, Label: "Confirm an email address", Method: storage.LoginEmail}
		pages.SignInLinks = append(pages.SignInLinks, web.Link{Path: otp.SignInFlow.Path, Label: "Sign in with email",
			Method: storage.LoginEmail})
		accountPage.Changes, accountPage.Linkable = append(accountPage.Changes, link), append(accountPage.Linkable, link)
		accountPage.Warnings = append(accountPage.Warnings, func(_ context.Context,
			u storage.User) ([]account.Warning, error) {
			if u.EmailVerified && u.Email != "" {
				return nil, nil
			}
			return []account.Warning{{Text: "You have no confirmed email address, so we cannot warn you when something " +
				"happens to your account.", Link: link}}, nil
		})
		routes = append(routes, codes.Routes()...)
	}
	if has.Emails != nil && has.Passwords != nil {
		pages.HelpLinks = append(pages.HelpLinks, web.Link{Path: otp.ResetFlow.Path, Label: "Forgotten your password?"})
	}
	if has.Passwords != nil {
		accountPage.HasPassword = has.Passwords.HasPassword
		accountPage.Password = web.Link{Path: newpassword.Path, Label: "Change your password"}
		routes = append(routes, change.Routes()...)
	}
	if c.Revoker != nil {
		keys := &apikeys.Page{Steps: s.steps, Store: c.Store, Revoker: c.Revoker}
		accountPage.Changes = append(accountPage.Changes, web.Link{Path: apikeys.Path, Label: "API keys"})
		routes = append(routes, keys.Routes()...)
	}
	if has.SignUps != nil {
		signUp := &signup.SignUp{Steps: s.steps, Users: has.SignUps, Invited: ways.Of(storage.LoginSelf) == SignUpInvitation,
			Emails: has.Emails != nil, Codes: codes}
		pages.HelpLinks = append(pages.HelpLinks, web.Link{Path: signup.Path, Label: "Create an account"})
		routes = append(routes, signUp.Routes()...)
	}
	routes = append(routes, s.ownData(c, has, accountPage)...)
	providers := &federation.Federation{Steps: s.steps, Store: c.Store, Users: has.Connected, Logins: has.Logins,
		Ways: ways, Invitations: has.Invited, Base: c.BaseURL}
	if has.Passwords != nil {
		providers.HasPassword = has.Passwords.HasPassword
	}
	s.codes, s.account, s.federation = codes, accountPage, providers
	offered, linkable, err := providers.Connect(c.Connectors)
	if err != nil {
		return nil, err
	}
	providers.Labels[passkey.Method] = "Passkey"
	pages.SignInLinks = append(pages.SignInLinks, offered...) // after our own methods
	accountPage.Linkable, accountPage.Labels = append(accountPage.Linkable, linkable...), providers.Labels
	return s.kept.Keeping(slices.Concat(routes, providers.Routes(), accountPage.Routes())), nil
}
