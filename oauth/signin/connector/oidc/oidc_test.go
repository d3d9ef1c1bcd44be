package oidc_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/storage"
)

func TestBrowserLeavesWithPKCEAndANonce(t *testing.T) {
	p := newProvider(t)
	c := p.connect()
	must(t, leaving(t.Context(), c))
	at, err := url.Parse(begun(t.Context(), c, connector.Asked{}))
	must(t, err)
	q := at.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": p.c.ClientID, "redirect_uri": back, "state": state, "scope": "openid profile",
		"code_challenge_method": "S256",
	} {
		if q.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("code_challenge")) != 43 || len(q.Get("nonce")) != 43 || q.Get("nonce") == q.Get("code_challenge") {
		t.Errorf("code_challenge %q, nonce %q", q.Get("code_challenge"), q.Get("nonce"))
	}
	if again := p.connect(); leaving(t.Context(), again) != nil ||
		begun(t.Context(), again, connector.Asked{}) != at.String() {
		t.Error("another node derives other secrets from the same state")
	}
	if strings.Contains(at.String(), p.c.ClientSecret.Reveal()) {
		t.Error("the secret is in the address")
	}
}

func TestServiceStartsWhileItsProviderIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		p.instead("openid-configuration", text(503, "away"))
		c := p.connect()
		for range 10 {
			wantTrouble(t, "away", connector.Profile{}, leaving(t.Context(), c), "503")
		}
		if n := p.count("openid-configuration"); n != 1 {
			t.Errorf("a provider that is away was asked %d times at once", n)
		}
		time.Sleep(5 * time.Second)
		p.instead("openid-configuration", nil)
		if err := leaving(t.Context(), c); err != nil {
			t.Errorf("when it is back: %v", err)
		}
	})
}

func TestDocumentIsReadAgainEachHourAndKeptIfItCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		c := p.connect()
		ready := func(when string, want int) {
			t.Helper()
			for range 3 {
				if err := leaving(t.Context(), c); err != nil {
					t.Errorf("%s: %v", when, err)
				}
			}
			if n := p.count("openid-configuration"); n != want {
				t.Errorf("%s: read %d times, want %d", when, n, want)
			}
		}
		ready("at first", 1)
		time.Sleep(59 * time.Minute)
		ready("within the hour", 1)
		time.Sleep(time.Minute)
		p.instead("openid-configuration", text(503, "away"))
		ready("while it is away", 2)
		time.Sleep(time.Minute)
		p.instead("openid-configuration", nil)
		ready("when it is back", 3)
		if !strings.HasPrefix(begun(t.Context(), c, connector.Asked{}), issuer+"/authorize?") {
			t.Error("the browser goes elsewhere")
		}
	})
}

func TestDiscoveryForManyFirstVisitorsIsReadOnce(t *testing.T) {
	p := newProvider(t)
	c := p.connect()
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if err := leaving(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.count("openid-configuration"); n != 1 {
		t.Errorf("the document was read %d times", n)
	}
}

func TestApplicationAuthenticatesAsTheProviderWants(t *testing.T) {
	for methods, basic := range map[string]bool{"": true, `["client_secret_basic"]`: true, `["client_secret_post"]`: false, `["private_key_jwt","client_secret_post"]`: false, `["client_secret_post","client_secret_basic"]`: true} {
		p := newProvider(t)
		d := map[string]any{}
		must(t, json.Unmarshal(document(t, p), &d))
		delete(d, "token_endpoint_auth_methods_supported")
		if methods != "" {
			d["token_endpoint_auth_methods_supported"] = json.RawMessage(methods)
		}
		body, err := json.Marshal(d)
		must(t, err)
		p.instead("openid-configuration", text(200, string(body)))
		p.instead("token", func(w http.ResponseWriter, r *http.Request) {
			_, _, header := r.BasicAuth()
			if header != basic {
				t.Errorf("%s: a header: %t", methods, header)
			}
			p.Fake.ServeHTTP(w, r)
		})
		if _, err := p.signIn(p.connect(), "lin", ""); err != nil {
			t.Errorf("%s: %v", methods, err)
		}
	}
}

func TestUserinfoIsAskedForWhatTheIDTokenLacks(t *testing.T) {
	for person, row := range map[string]struct {
		scopes []string
		asked  int
		name   string
	}{
		"lin": {nil, 0, "林晓雨"}, "omar": {nil, 1, "Omar Haddad"}, "mei": {[]string{"openid"}, 0, ""},
	} {
		p := newProvider(t)
		p.c.Scopes = row.scopes
		profile, err := p.signIn(p.connect(), person, "")
		if n := p.count("userinfo"); err != nil || n != row.asked || profile.Nickname != row.name {
			t.Errorf("%s: %+v, %v, userinfo %d times; want %d and %q", person, profile, err, n, row.asked, row.name)
		}
	}
}

func TestEmailDomainsAdmitVerifiedAddressesOnly(t *testing.T) {
	for _, row := range []struct {
		domains []string
		person  string
		in      bool
	}{
		{[]string{"example.com"}, "lin", true},
		{[]string{"example.com"}, "omar", false}, // not verified
		{[]string{"example.net", "ample.com", "e.example.com"}, "lin", false},
	} {
		p := newProvider(t)
		p.c.Domains = row.domains
		profile, err := p.signIn(p.connect(), row.person, "")
		if row.in != (err == nil) || !row.in && (!errors.Is(err, connector.ErrStranger) || len(profile.Subjects) > 0) {
			t.Errorf("%s with %q: %+v, %v", row.person, row.domains, profile, err)
		}
	}
}

func TestConfigThatCannotWorkIsRefusedWithAllThatIsWrong(t *testing.T) {
	good := oidc.Config{Name: "kc", Issuer: "https://id.example/realms/a", ClientID: "a",
		ClientSecret: storage.NewSecret("s3cret")}
	for why, change := range map[string]func(*oidc.Config){
		"Name":               func(c *oidc.Config) { c.Name = "Key Cloak" },
		"must be https":      func(c *oidc.Config) { c.Issuer = "http://id.example" },
		"no user, no query":  func(c *oidc.Config) { c.Issuer = "https://id.example?x" },
		"scheme":             func(c *oidc.Config) { c.Issuer = "ftp://id.example" },
		"1 to 2048":          func(c *oidc.Config) { c.Issuer = "" },
		"every tenant in":    func(c *oidc.Config) { c.Issuer = oidc.Entra("common") },
		"no tenant of Entra": func(c *oidc.Config) { c.Issuer = oidc.Entra("{tenantid}") },
		"ClientID":           func(c *oidc.Config) { c.ClientID = "" },
		"ClientSecret":       func(c *oidc.Config) { c.ClientSecret = storage.Secret{} },
		"Scopes":             func(c *oidc.Config) { c.Scopes = []string{"open id"} },
		"Domains":            func(c *oidc.Config) { c.Domains = []string{"*"} },
		"does not say whether": func(c *oidc.Config) {
			c.Issuer, c.Domains = oidc.Entra("9188040d-6c67-4c5b-b112-36a304b66dad"), []string{"a.example"}
		},
		"AllowPrivate":          func(c *oidc.Config) { c.AllowPrivate = []string{"everything"} },
		"kc: ClientID: \"\" is": func(c *oidc.Config) { c.ClientID, c.ClientSecret = "", storage.Secret{} },
	} {
		c := good
		change(&c)
		if made, err := oidc.New(c); made != nil || err == nil || !strings.Contains(err.Error(), why) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("New = %v, %v; want an error with %q", made, err, why)
		}
	}
	for _, issuer := range []string{good.Issuer, oidc.Google, oidc.Entra("9188040d-6c67-4c5b-b112-36a304b66dad"),
		"http://localhost:8080", "http://127.0.0.1", "http://[::1]:8080/a", "https://id.example/"} {
		c := good
		c.Issuer = issuer
		made, err := oidc.New(c)
		if err != nil {
			t.Errorf("%s: %v", issuer, err)
			continue
		}
		if label := made.Label(); label != "kc" || made.Name() != "kc" {
			t.Errorf("%q is labelled %q", made.Name(), label)
		}
	}
}
