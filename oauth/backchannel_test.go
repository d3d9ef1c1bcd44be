package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// logoutClaims are those of a logout token.
type logoutClaims struct {
	jwt.Claims
	SID    string                     `json:"sid"`
	Nonce  *string                    `json:"nonce"`
	Events map[string]json.RawMessage `json:"events"`
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// relyingParty is an application of somebody else's making, which knows its client_id, its secret and our JWKS.
type relyingParty struct {
	*httptest.Server
	app    storage.App
	jwks   func() []byte
	posted chan url.Values
	answer func(w http.ResponseWriter, r *http.Request) // nil: 200
}

func newRelyingParty(t testing.TB) *relyingParty {
	rp := &relyingParty{posted: make(chan url.Values, 100)}
	rp.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/out" &&
			r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && r.ParseForm() == nil {
			rp.posted <- r.PostForm
		}
		if rp.answer != nil {
			rp.answer(w, r)
		}
	}))
	t.Cleanup(rp.Close)
	return rp
}

// check validates a logout token as OpenID Connect Back-Channel Logout 2.6 has it.
func (rp *relyingParty) check(text string) (c logoutClaims, err error) {
	alg := jose.SignatureAlgorithm(rp.app.SignsIDTokensWith())
	parsed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{alg})
	if err != nil {
		return c, err
	}
	var key any = []byte(rp.app.AppKey().Reveal())
	if alg != jose.HS256 {
		var set jose.JSONWebKeySet
		if err := json.Unmarshal(rp.jwks(), &set); err != nil {
			return c, err
		}
		key = set
	}
	if err := parsed.Claims(key, &c); err != nil {
		return c, err
	}
	_, is := c.Events[logoutEvent]
	switch {
	case parsed.Headers[0].ExtraHeaders[jose.HeaderType] != "logout+jwt":
		return c, errors.New("typ is not logout+jwt")
	case c.Issuer != issuer || !slices.Equal(c.Audience, jwt.Audience{rp.app.ID}):
		return c, errors.New("it is of another issuer, or for another application")
	case !is || string(c.Events[logoutEvent]) != "{}" || len(c.Events) != 1:
		return c, errors.New("it is no logout")
	case c.Nonce != nil:
		return c, errors.New("it has a nonce")
	case c.Subject == "" || c.ID == "":
		return c, errors.New("it has no sub or no jti")
	case c.Expiry == nil || c.IssuedAt == nil || c.Expiry.Time().Sub(c.IssuedAt.Time()) != 2*time.Minute:
		return c, errors.New("it is not good for two minutes")
	}
	return c, c.ValidateWithLeeway(jwt.Expected{Time: time.Now()}, 0)
}

// next waits for the next logout token.
func (rp *relyingParty) next(t testing.TB) (text string, c logoutClaims) {
	t.Helper()
	select {
	case form := <-rp.posted:
		if len(form) != 1 || len(form["logout_token"]) != 1 {
			t.Fatalf("it was sent the fields %v, want logout_token alone", form)
		}
		c, err := rp.check(form.Get("logout_token"))
		if err != nil {
			t.Fatalf("the logout token %s: %v", form.Get("logout_token"), err)
		}
		return form.Get("logout_token"), c
	case <-time.After(10 * time.Second):
		t.Fatal("it was told nothing")
	}
	return "", c
}

// backchannel is a fixture that tells applications, and one application that is told.
type backchannel struct {
	*fixture
	rp *relyingParty
}

func newBackchannel(t *testing.T, app storage.App, private ...string) *backchannel {
	t.Helper()
	h := newFixture(t, func(c *oauth.Config) { c.NoDelivery, c.AllowPrivate = false, private })
	t.Cleanup(func() { h.server.Close(context.Background()) })
	b := &backchannel{h, newRelyingParty(t)}
	b.rp.jwks = func() []byte { return h.serve(httptest.NewRequest("GET", "/oauth/jwks", nil)).Body.Bytes() }
	app.Name, app.Domains, app.BackchannelLogoutURI = "App", []string{"app.example.com", "127.0.0.1"}, b.rp.URL+"/out"
	h.app = h.register(app)
	b.rp.app = h.app
	b.begin("s1")
	return b
}

// begin begins a stored session of the fixture's user.
func (b *backchannel) begin(id string) {
	b.Helper()
	now := time.Now()
	v := must(b.store.SaveSession(b.Context(), storage.Session{ID: id, UserID: b.user.Sub, LoginType: storage.LoginSelf,
		AuthTime: now, ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)}))(b.TB)
	b.browser.session = &v
}

func (b *backchannel) end(id string) {
	b.Helper()
	v := must(b.store.Session(b.Context(), id))(b.TB)
	if err := logout.End(b.Context(), b.store, v); err != nil {
		b.Fatal(err)
	}
}

// sid gets tokens by a code, and by the refresh token after it, and returns the sid of the id_tokens.
func (b *backchannel) sid() string {
	b.Helper()
	var sids []string
	a := b.exchange(b.code("scope", "openid")).tokens(b.TB)
	for range 2 {
		sid, _ := payload(b.TB, a.text("id_token"))["sid"].(string)
		sids = append(sids, sid)
		a = b.refresh(a.text("refresh_token")).tokens(b.TB)
	}
	if sids[0] != sids[1] {
		b.Errorf("the id_token of the refresh has the sid %q, want %q", sids[1], sids[0])
	}
	return sids[0]
}

func TestApplicationIsToldOfTheEndOfItsSession(t *testing.T) {
	for _, alg := range []string{"", token.ES256, token.RS256, token.EdDSA} {
		t.Run("signed with "+alg, func(t *testing.T) {
			b := newBackchannel(t, storage.App{IDTokenAlg: alg}, "127.0.0.0/8")
			sid := b.sid()
			if sid == "" {
				t.Fatal("the id_token has no sid")
			}
			b.end("s1")
			text, c := b.rp.next(t)
			if c.Subject != b.user.Sub || c.SID != sid {
				t.Errorf("it is told of sub %q and sid %q, want %q and %q", c.Subject, c.SID, b.user.Sub, sid)
			}
			b.begin("s2")
			if other := b.sid(); other == sid {
				t.Error("two sessions have one sid")
			}
			b.end("s2")
			if _, second := b.rp.next(t); second.ID == c.ID {
				t.Error("two logout tokens have one jti")
			}
			for what, forged := range forgeries(text) {
				if _, err := b.rp.check(forged); err == nil {
					t.Errorf("the application takes one %s", what)
				}
			}
		})
	}
}

// forgeries are tokens that no application may take.
func forgeries(text string) map[string]string {
	part := strings.Split(text, ".")
	alike := func(typ string) string { return token.SignHS256(storage.DrawSecret(), typ, []byte(`{}`)) }
	none := "eyJhbGciOiJub25lIiwidHlwIjoibG9nb3V0K2p3dCJ9." + part[1] + "."
	return map[string]string{
		"with the signature of another":  part[0] + "." + part[1] + "." + strings.Split(alike(token.TypeLogout), ".")[2],
		"without a signature":            none,
		"with another's payload":         part[0] + "." + strings.Split(alike(token.TypeLogout), ".")[1] + "." + part[2],
		"that was cut":                   text[:len(text)-10],
		"that is empty":                  "",
		"signed with a key of no one's":  alike(token.TypeLogout),
		"that is an id_token by its typ": alike(token.TypeID),
	}
}

func TestLogoutTokenOpensNothingHere(t *testing.T) {
	for _, alg := range []string{"", token.ES256} {
		b := newBackchannel(t, storage.App{IDTokenAlg: alg}, "127.0.0.0/8")
		b.sid()
		b.end("s1")
		text, _ := b.rp.next(t)
		if _, err := b.tokens.Verify(t.Context(), text); !errors.Is(err, oauth.ErrInvalidToken) {
			t.Errorf("as a bearer: Verify() = %v, want ErrInvalidToken", err)
		}
		b.begin("s2")
		a := b.serve(httptest.NewRequest("GET",
			"/oauth/logout?id_token_hint="+text+"&client_id="+b.app.ID+"&post_logout_redirect_uri="+url.QueryEscape(redirect),
			nil))
		if a.Code == http.StatusFound || b.browser.session == nil {
			t.Errorf("as an id_token_hint: %d, want the question", a.Code)
		}
	}
}

func TestSIDIsGivenOnlyToApplicationsWithBackchannelLogout(t *testing.T) {
	b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
	with := b.sid()
	deaf := b.register(storage.App{Name: "Deaf", Domains: []string{"app.example.com"}})
	rp := b.app
	before := b.exchange(b.code("scope", "openid")).tokens(t)
	b.app = deaf
	if sid := b.sid(); sid != "" {
		t.Errorf("an application that is not told gets the sid %q", sid)
	}
	rp.BackchannelLogoutURI = ""
	b.app = b.register(rp)
	if sid := b.sid(); sid != "" {
		t.Errorf("one that has taken its address away gets the sid %q", sid)
	}
	if sid, is := payload(t, b.refresh(before.text("refresh_token")).tokens(t).text("id_token"))["sid"]; is {
		t.Errorf("by a refresh token of before it gets the sid %v", sid)
	}
	b.app.BackchannelLogoutURI = b.rp.URL + "/out"
	b.app = b.register(b.app)
	b.browser.session = new(must(b.store.Session(t.Context(), "s1"))(t))
	if sid := b.sid(); sid != with {
		t.Errorf("once it is told again its sid is %q, want %q as before", sid, with)
	}
}

// One write for the code, and one more for the first code of an application that is told in a session.
func TestAuthorizeWritesOnceMoreForTheFirstCodeOfASessionOnly(t *testing.T) {
	b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
	b.authorize("scope", "openid") // where the user meets the application
	b.end("s1")
	b.begin("s2")
	must(0, b.server.Close(t.Context()))(t) // what is sent is written too
	for i, want := range []int{2, 1, 1} {
		b.browser.session = new(must(b.store.Session(t.Context(), "s2"))(t))
		writes := 0
		for name, n := range b.calls.during(func() { b.authorize("scope", "openid") }) {
			if name == "Issue" || name == "Put" {
				writes += n
			}
		}
		if writes != want {
			t.Errorf("code %d took %d writes, want %d", i+1, writes, want)
		}
	}
}

func TestSignOutEverywhereNamesNoSession(t *testing.T) {
	b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
	b.sid()
	if err := b.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: b.user.Sub,
		Before: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, c := b.rp.next(t); c.Subject != b.user.Sub || c.SID != "" {
		t.Errorf("it is told of sub %q and sid %q, want the sub alone", c.Subject, c.SID)
	}
}

func TestSessionThatEndsMeanwhileGivesNoCode(t *testing.T) {
	b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
	b.end("s1")
	if a := b.authorize("scope", "openid"); a.Code != http.StatusOK || b.browser.prompts != 1 {
		t.Errorf("authorize = %d, %s, want the sign-in page", a.Code, a.Header().Get("Location"))
	}
	if a := b.authorize("scope", "openid", "prompt", "none"); !strings.Contains(a.Header().Get("Location"),
		"error=login_required") {
		t.Errorf("with prompt=none it leads to %s, want login_required", a.Header().Get("Location"))
	}
}

// waiting returns what is in the application's queue once its first attempt has failed.
func (b *backchannel) waiting() storage.Delivery {
	b.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		all := must(b.store.Deliveries(b.Context(), notify.App(b.app.ID)))(b.TB)
		if len(all) == 1 && all[0].LastError != "" {
			return all[0]
		}
		<-time.After(5 * time.Millisecond)
	}
	b.Fatal("nothing has failed")
	return storage.Delivery{}
}

func TestLogoutIsNotSentTo(t *testing.T) {
	t.Run("a private address that nobody has allowed", func(t *testing.T) {
		b := newBackchannel(t, storage.App{})
		b.sid()
		b.end("s1")
		if d := b.waiting(); d.LastError != "address not allowed" || len(b.rp.posted) != 0 {
			t.Errorf("%q, and it was sent %d, want address not allowed", d.LastError, len(b.rp.posted))
		}
	})
	t.Run("an address that it is redirected to", func(t *testing.T) {
		b, other := newBackchannel(t, storage.App{}, "127.0.0.0/8"), newRelyingParty(t)
		for _, status := range []int{302, 307} {
			b.rp.answer = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/out", status) }
			b.begin(fmt.Sprint("s", status))
			b.sid()
			b.end(fmt.Sprint("s", status))
			b.rp.next(t)
			d := b.waiting()
			if d.LastStatus != status || len(other.posted) != 0 {
				t.Errorf("%d: the answer counts as %d, and %d went on, want none", status, d.LastStatus, len(other.posted))
			}
			must(0, b.store.DeleteDelivery(t.Context(), d))(t)
		}
	})
	t.Run("an answer without end", func(t *testing.T) {
		b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
		sent := make(chan int, 1)
		b.rp.answer = func(w http.ResponseWriter, r *http.Request) {
			n := 0
			for range 10_000 {
				m, err := w.Write(make([]byte, 32<<10))
				if n += m; err != nil {
					break
				}
			}
			sent <- n
		}
		b.sid()
		b.end("s1")
		b.rp.next(t)
		if n := <-sent; n > 100<<20 {
			t.Errorf("%d bytes of it were taken", n)
		}
	})
}

// A process that dies after the answer leaves what is to be told in the store, for the next one.
func TestLogoutMessagesOutliveTheProcess(t *testing.T) {
	b := newBackchannel(t, storage.App{}, "127.0.0.0/8")
	sid := b.sid()
	must(0, b.server.Close(t.Context()))(t)
	b.end("s1")
	if len(b.rp.posted) != 0 {
		t.Fatal("it was told by a process that has ended")
	}
	next := must(oauth.New(t.Context(), oauth.Config{Tokens: b.tokens, SignIn: b.browser,
		AllowPrivate: []string{"127.0.0.0/8"}}))(t)
	defer next.Close(context.Background())
	if _, c := b.rp.next(t); c.SID != sid {
		t.Errorf("it is told of sid %q, want %q", c.SID, sid)
	}
}
