package applications

import (
	"context"
	"encoding/base64"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
)

const (
	issuer   = "https://id.example.com"
	password = "a long enough password"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636, appendix B
	s256     = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// site is a service with what the page has made so far.
type site struct {
	*keystile.Service
	users  *users.StoreUsers
	values map[string]string // what {{name}} stands for in a dialogue
	groups []string
	app    storage.App // the last one that was registered
	back   []string    // where users of all of them are sent back to
}

func newSite(t *testing.T) *site {
	t.Helper()
	c := keystile.Config{BaseURL: issuer, Backend: memory.New(), MasterKey: storage.NewMasterKey(),
		Log: slog.New(slog.DiscardHandler)}
	c.SignIn.Passwords = passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	service, err := keystile.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &site{Service: service, users: users.New(service.Store, c.SignIn.Passwords),
		values: map[string]string{"origin": issuer, "verifier": verifier, "challenge": s256}}
}

// do does what a command of the page says, as far as it is about users, groups and applications.
func (s *site) do(t *testing.T, words []string) {
	t.Helper()
	ctx, set := t.Context(), flags(words)
	var err error
	switch name := strings.Join(words[:min(2, len(words))], " "); name {
	case "serve", "serve &":
	case "user create":
		s.know(t, storage.User{Username: set["username"][0], Email: set["email"][0]})
	case "user set":
		err = s.describe(ctx, words[2], set["attribute"])
	case "group create":
		s.groups = append(s.groups, words[2])
		_, err = s.Store.SaveGroup(ctx, groups.Group{Name: words[2]})
	case "group add":
		_, err = s.Store.AddMember(ctx, words[2], s.values[words[3]])
	case "app create", "app set":
		if name == "app create" {
			s.app = storage.App{}
		}
		fill(t, &s.app, set)
		if s.app, err = s.Store.SaveApp(ctx, s.app); err == nil {
			s.register(name == "app create")
		}
	default:
		t.Fatalf("the page says keystile %s, which is not known here", name)
	}
	if err != nil {
		t.Fatalf("keystile %s: %v", strings.Join(words, " "), err)
	}
}

// know makes a user, who is signed in as {{session_NAME}}.
func (s *site) know(t *testing.T, u storage.User) {
	t.Helper()
	made, err := s.users.Create(t.Context(), u, password)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"username": {u.Username}, "password": {password}}
	r := httptest.NewRequest("POST", issuer+"/oauth/signin", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", issuer)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	at := slices.IndexFunc(w.Result().Cookies(), func(c *http.Cookie) bool { return c.Name == "open_sso_token" })
	if at < 0 {
		t.Fatalf("signing in = %d without a cookie: %s", w.Code, w.Body)
	}
	s.values[u.Username], s.values["session_"+u.Username] = made.Sub, w.Result().Cookies()[at].Value
}

// describe gives a user attributes, written as NAME=VALUE.
func (s *site) describe(ctx context.Context, name string, attributes []string) error {
	u, err := s.Store.User(ctx, s.values[name])
	if err != nil {
		return err
	}
	if u.Attributes = maps.Clone(u.Attributes); u.Attributes == nil {
		u.Attributes = map[string]string{}
	}
	for _, a := range attributes {
		key, value, _ := strings.Cut(a, "=")
		u.Attributes[key] = value
	}
	_, err = s.Store.SaveUser(ctx, u)
	return err
}

// fill takes over what flags of app create and app set say.
func fill(t *testing.T, a *storage.App, set map[string][]string) {
	t.Helper()
	for name, values := range set {
		switch name {
		case "name":
			a.Name = values[0]
		case "domain":
			a.Domains = values
		case "redirect-uri":
			a.RedirectURIs = values
		case "id-token-alg":
			a.IDTokenAlg = values[0]
		case "first-party":
			a.FirstParty = true
		case "public":
			a.Public = true
		case "allow":
			a.Admission = &access.Admission{Allow: values, Since: time.Now()}
		case "group-filter":
			a.GroupFilter = values
		case "claims":
			rules, err := claim.Parse([]byte(values[0]))
			if err != nil {
				t.Fatalf("%s: %v", values[0], err)
			}
			a.Claims = rules
		case "json":
		default:
			t.Fatalf("the page has the flag --%s, which is not known here", name)
		}
	}
}

// register makes the application known to dialogues: as client_id, or as public_id where it has no secret.
func (s *site) register(created bool) {
	if !created {
		return
	}
	s.back = append(s.back, s.app.RedirectURIs...)
	if s.app.Public {
		s.values["public_id"] = s.app.ID
		return
	}
	secret := s.app.AppKey().Reveal()
	s.values["client_id"], s.values["client_secret"] = s.app.ID, secret
	s.values["basic"] = base64.StdEncoding.EncodeToString([]byte(s.app.ID + ":" + secret))
}
