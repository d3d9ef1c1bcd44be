package peers

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const (
	redirect = "https://app.example.com/cb?own=1"
	username = "ada"
	password = "correct horse battery"
)

// fixture is the provider with its sign-in page, on a port of its own.
type fixture struct {
	url   string
	store *storage.Store
}

func newFixture(t *testing.T, idTokenAlgs ...string) fixture {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	users := users.New(store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))
	if _, err := users.Create(t.Context(), storage.User{Username: username, Nickname: "Ada", Email: "ada@example.com",
		EmailVerified: true}, password); err != nil {
		t.Fatal(err)
	}
	tokens, err := oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: server.URL, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tokens.Close(t.Context()) })
	signIn, err := signin.New(t.Context(), signin.Config{BaseURL: server.URL, Store: store, Users: users.Host(),
		Revoker: tokens})
	if err != nil {
		t.Fatal(err)
	}
	provider, err := oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: tokens, SignIn: signIn,
		IDTokenAlgs: idTokenAlgs})
	if err != nil {
		t.Fatal(err)
	}
	provider.Mount(mux)
	signIn.Mount(mux)
	return fixture{server.URL, store}
}

func (h fixture) register(t *testing.T, app storage.App) storage.App {
	t.Helper()
	app.Name, app.Domains = "Peer", []string{"app.example.com"}
	app, err := h.store.SaveApp(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// visit opens an authorize URL as a browser without JavaScript would: it fills the
// sign-in form, follows redirects, and returns where the application would be called.
func visit(t *testing.T, authorize string) *url.URL {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	var arrived *url.URL
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "app.example.com" {
			arrived = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	answer, err := client.Get(authorize)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 200 || arrived != nil {
		t.Fatalf("authorize without a session = %d, want the sign-in page", answer.StatusCode)
	}
	action := regexp.MustCompile(`<form method="post" action="([^"]+)"`).FindSubmatch(page)
	query := regexp.MustCompile(`name="query" value="([^"]*)"`).FindSubmatch(page)
	if action == nil || query == nil {
		t.Fatalf("no sign-in form in %s", page)
	}
	form := url.Values{"query": {html.UnescapeString(string(query[1]))}, "username": {username}, "password": {password}}
	r, _ := http.NewRequest("POST", answer.Request.URL.Scheme+"://"+answer.Request.URL.Host+string(action[1]),
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if answer, err = client.Do(r); err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if arrived == nil {
		t.Fatalf("signing in ended with %d at %s, want the application", answer.StatusCode, answer.Request.URL)
	}
	return arrived
}
