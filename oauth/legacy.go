package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// A legacy sign-in begins at the old endpoints, goes through authorize and ends with a code of
// kind legacy (protocol 4.10). A ticket in the address proves that the authenticated application
// has requested this sign-in: without one, authorize is not in legacy mode.
const (
	paramTicket    = "legacy"
	paramLed       = "keystile_led" // the browser has been led to the way that was asked for
	ticketLifetime = 10 * time.Minute
	ticketHead     = 8 + 16 // when it ends in Unix seconds, and what it is for
	ticketSize     = ticketHead + sha256.Size
)

// Legacy serves package legacy: it leads users to a sign-in, and issues codes and access tokens. [Server.Legacy]
// returns it.
type Legacy struct{ visitors }

// Legacy returns what the old endpoints need: the Provider of a legacy.Config.
func (s *Server) Legacy() *Legacy { return s.legacy }

// SignIn returns the address of a sign-in for an authenticated application. It is good for
// ten minutes, and for these values only.
func (l *Legacy) SignIn(app storage.App, loginType, redirectURI, state string) string {
	head := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(ticketLifetime).Unix()))
	head = append(head, purpose(loginType, redirectURI, state)...)
	ticket := base64.RawURLEncoding.EncodeToString(append(head, seal(app, app.AppKey(), head)...))
	return reply.WithQuery(l.issuer+pathAuthorize, "response_type", "code", "client_id", app.ID,
		"redirect_uri", redirectURI, "state", state, "login_type", loginType, paramTicket, ticket)
}

// Begun reports whether a text is a valid ticket of an application.
func (*Legacy) Begun(app storage.App, ticket string) bool {
	_, ok := openTicket(app, ticket, time.Now())
	return ok
}

// purpose digests the parameters that a ticket is for. Encode escapes them, so no two sets are
// encoded alike.
func purpose(loginType, redirectURI, state string) []byte {
	of := url.Values{"login_type": {loginType}, "redirect_uri": {redirectURI}, "state": {state}}
	sum := sha256.Sum256([]byte(of.Encode()))
	return sum[:ticketHead-8]
}

// seal computes the MAC of a ticket. The key is an appkey: whoever has it could call act=login as well.
func seal(app storage.App, key storage.Secret, head []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte("keystile legacy sign-in\x00" + app.ID + "\x00"))
	mac.Write(head)
	return mac.Sum(nil)
}

func openTicket(app storage.App, ticket string, now time.Time) (head []byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(ticket)
	if err != nil || len(raw) != ticketSize {
		return nil, false
	}
	head = raw[:ticketHead]
	for _, s := range app.Secrets {
		live := s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt)
		ok = hmac.Equal(raw[ticketHead:], seal(app, s.Secret, head)) && live && !s.Secret.IsZero() || ok
	}
	return head, ok && now.Unix() < int64(binary.BigEndian.Uint64(head))
}

// authorize is the endpoint for a request with a ticket. It knows no PKCE and scope, and of prompt
// only that another account signs in. A
// faulty ticket is answered with a page and never with a redirect.
func (l *Legacy) authorize(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values) error {
	target, state := form.Get("redirect_uri"), form.Get("state")
	head, ok := openTicket(app, form.Get(paramTicket), time.Now())
	if !ok || !hmac.Equal(head[8:], purpose(form.Get("login_type"), target, state)) {
		return badTicket
	}
	if l.denied(form) {
		return reply.Found(w, reply.WithQuery(target, "error", accessDenied.OAuth, "error_description", accessDenied.Msg,
			"state", state))
	}
	who, err := l.c.SignIn.Visitor(r)
	switch nobody := errors.Is(err, storage.ErrNotFound); {
	case err != nil && !nobody:
		return err
	case l.leads(form, who):
		return l.c.AskBy(w, led(withoutSignature(r)), app, logintype.Method(form.Get("login_type")))
	case nobody, form.Get("prompt") == promptOther: // where the page of a user who is not admitted leads to
		return l.c.SignIn.Ask(w, withoutSignature(r), app)
	}
	var kept *notAdmitted
	if err := l.admitted(r.Context(), app, who.UserID); errors.As(err, &kept) {
		return l.keepOut(w, r, app, form, kept.who, reply.WithQuery(target, "error", mayNotUse.OAuth, "error_description",
			mayNotUse.Msg, "state", state))
	} else if err != nil {
		return err
	}
	if enough, err := l.enough(r.Context(), who, app, ""); err != nil {
		return err
	} else if !enough {
		return l.c.Levels.AskFactor(w, withoutSignature(r), app, "")
	}
	if _, err := l.consented(r.Context(), app, who, legacyScope, promptOptions{}); errors.As(err, new(*consentRequired)) {
		return l.c.Consent.AskConsent(w, withoutSignature(r), app, who, legacyScope)
	} else if err != nil {
		return err
	}
	loginType := logintype.Told(form.Get("login_type"), who.SignInMethod())
	code, err := l.issue(r.Context(), app, who, loginType, target, l.c.ClientIP(r))
	if errors.Is(err, storage.ErrNotFound) { // the session has ended meanwhile
		return l.c.SignIn.Ask(w, withoutSignature(r), app)
	}
	if err != nil {
		return err
	}
	return reply.Found(w, reply.WithQuery(target, "type", loginType, "code", code, "state", state))
}

// leads reports whether the browser of a visitor is led to the way to sign in that the application asks for: no
// user is signed in, or only by another way. It is led once. A user who then signs in by another way, such as one
// whom the provider does not lead to an account here, goes on.
func (l *Legacy) leads(form url.Values, who storage.Session) bool {
	method := logintype.Method(form.Get("login_type"))
	return l.c.AskBy != nil && method != storage.LoginSelf && method != who.SignInMethod() && !form.Has(paramLed)
}

// led marks a request whose browser is being led. The mark needs no proof: whoever forges it is shown the sign-in page.
func led(r *http.Request) *http.Request {
	if r.Method == http.MethodPost {
		r.PostForm.Set(paramLed, "1")
		return r
	}
	r.URL.RawQuery += "&" + paramLed + "=1"
	return r
}

// Code issues a code of kind legacy to an application for a user who is signed in in a
// browser at an address: 128 random bits in upper-case hex, good for CodeLifetime. If the user has not consented, has
// signed in with too few factors for the application, or may not use it, it returns storage.ErrNotFound.
func (l *Legacy) Code(ctx context.Context, app storage.App, who storage.Session, redirectURI string,
	from netip.Addr) (string, error) {
	if err := l.admitted(ctx, app, who.UserID); errors.As(err, new(*notAdmitted)) {
		return "", fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	} else if err != nil {
		return "", err
	}
	if enough, err := l.enough(ctx, who, app, ""); err != nil {
		return "", err
	} else if !enough {
		return "", fmt.Errorf("%w: the application requires two factors", storage.ErrNotFound)
	}
	if _, err := l.consented(ctx, app, who, legacyScope, promptOptions{}); errors.As(err, new(*consentRequired)) {
		return "", fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	} else if err != nil {
		return "", err
	}
	return l.issue(ctx, app, who, logintype.Of(who.SignInMethod()), redirectURI, from)
}

// legacyScope is the scope of every code of kind legacy.
const legacyScope = "openid profile"

func (l *Legacy) issue(ctx context.Context, app storage.App, who storage.Session, loginType, redirectURI string,
	from netip.Addr) (string, error) {
	if _, err := l.meet(ctx, app, who); err != nil {
		return "", err
	}
	raw := make([]byte, 16)
	rand.Read(raw)
	code, now := strings.ToUpper(hex.EncodeToString(raw)), time.Now().UTC()
	granted := l.store.Later(now)
	t := driver.Token{
		Key: handle.KeyOf(code), Kind: driver.KindLegacy, Grant: handle.NewGrant(granted), GrantedAt: granted,
		AppID: app.ID, UserID: who.UserID, Scope: legacyScope, IssuedAt: now, ExpiresAt: now.Add(l.tokens.c.CodeLifetime),
		AuthTime: who.ProvedAt(), LoginType: loginType, RedirectURI: redirectURI,
	}
	if from.IsValid() {
		t.IP = from.String()
	}
	return code, l.store.Issue(ctx, t)
}

// Access mints the access token for a legacy code. The caller has checked the code.
func (l *Legacy) Access(_ context.Context, code driver.Token) (string, error) {
	now := time.Now()
	return l.tokens.keys.SignAccess(token.Claims{
		Issuer: l.issuer, Subject: code.UserID, Audience: l.issuer, ClientID: code.AppID, Scope: code.Scope,
		ID: rand.Text(), Grant: code.Grant, IssuedAt: now, ExpiresAt: now.Add(l.tokens.c.AccessLifetime),
	})
}
