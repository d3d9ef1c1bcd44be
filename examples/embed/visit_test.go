package main

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// visit is a browser at a running service, that follows no redirect by itself.
type visit struct {
	*testing.T
	origin string
	app    storage.App
	client *http.Client
	form   url.Values // hidden fields of the last page
	action string     // where its form goes
	to     *url.URL   // where the last answer leads
}

const (
	callback = "http://localhost:9999/callback" // nothing listens there: its code is taken off the address
	verifier = "a-verifier-is-43-to-128-characters-and-drawn-for-each-sign-in"
)

func authorizeQuery(app storage.App) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {callback}, "scope": {"openid profile"},
		"code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}, "state": {"xyz"},
	}
}

func arrive(t *testing.T, ownPage bool) *visit {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	v := &visit{T: t, origin: "http://" + server.Listener.Addr().String()}
	backend := memory.New()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	if v.app, err = register(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	s, err := newService(t.Context(), v.origin, store, ownPage)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = s
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(s.close(context.Background()), backend.Close()); err != nil {
			t.Error(err)
		}
	})
	jar, _ := cookiejar.New(nil)
	v.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return v
}

// authorize sends the application's request, with name and value pairs more.
func (v *visit) authorize(want int, more ...string) string {
	v.Helper()
	query := authorizeQuery(v.app)
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return v.get("/oauth/authorize?"+query.Encode(), want)
}

// enter fills in the form of the last page.
func (v *visit) enter(username, password string, want int) {
	v.Helper()
	v.form.Set("username", username)
	v.form.Set("password", password)
	v.post(v.action, v.form, want)
}

func (v *visit) follow(want int) {
	v.Helper()
	v.get(v.to.RequestURI(), want)
}

// redeem exchanges the code of the last redirect for an access token.
func (v *visit) redeem() string {
	v.Helper()
	if !strings.HasPrefix(v.to.String(), callback+"?") || v.to.Query().Get("state") != "xyz" {
		v.Fatalf("authorize leads to %s, want the application with its state", v.to)
	}
	answer := v.post("/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {v.app.ID}, "redirect_uri": {callback},
		"code_verifier": {verifier}, "code": {v.to.Query().Get("code")},
	}, http.StatusOK)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &token); err != nil || token.AccessToken == "" {
		v.Fatalf("token = %s, want an access_token", answer)
	}
	return token.AccessToken
}

func (v *visit) salary(token string, want int, text string) {
	v.Helper()
	r, _ := http.NewRequestWithContext(v.Context(), http.MethodGet, v.origin+"/salary", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body := v.do(r, want); !strings.Contains(body, text) {
		v.Errorf("salary = %q, want %q", body, text)
	}
}

func (v *visit) get(path string, want int) string {
	v.Helper()
	return v.open(v.origin+path, want)
}

func (v *visit) open(address string, want int) string {
	v.Helper()
	r, _ := http.NewRequestWithContext(v.Context(), http.MethodGet, address, nil)
	return v.do(r, want)
}

func (v *visit) post(path string, form url.Values, want int) string {
	v.Helper()
	r, _ := http.NewRequestWithContext(v.Context(), http.MethodPost, v.origin+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.do(r, want)
}

var (
	action = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

func (v *visit) do(r *http.Request, want int) string {
	v.Helper()
	resp, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		v.Fatalf("%s %s = %d %s (%v), want %d", r.Method, r.URL.Path, resp.StatusCode, body, err, want)
	}
	v.to, _ = resp.Location()
	if form := action.FindSubmatch(body); form != nil {
		v.action, v.form = string(form[1]), url.Values{}
		for _, field := range hidden.FindAllSubmatch(body, -1) {
			v.form.Set(string(field[1]), html.UnescapeString(string(field[2])))
		}
	}
	return string(body)
}
