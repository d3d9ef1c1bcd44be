package main

import (
	"encoding/json"
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

// company is a running host with Ada and Bob, who have no badge yet.
type company struct {
	*testing.T
	*staff
	*badges
	origin   string
	app      storage.App
	ada, bob employee
}

func open(t *testing.T) *company {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	c := &company{T: t, staff: newStaff(), origin: "http://" + server.Listener.Addr().String()}
	c.badges = newBadges(c.staff)
	backend := memory.New()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	must(t, err)
	c.app, err = register(t.Context(), store)
	must(t, err)
	c.ada, err = c.hire(t.Context(), "Ada@example.com", "Ada Lovelace", "analytical engine")
	must(t, err)
	c.bob, err = c.hire(t.Context(), "bob@example.com", "Bob", "builds and builds")
	must(t, err)
	handler, tokens, err := newHost(t.Context(), c.origin, store, c.staff, c.badges)
	must(t, err)
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(func() { server.Close(); tokens.Close(t.Context()); backend.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// browser is a user at the company: it follows redirects, up to the application.
type browser struct {
	*company
	client *http.Client
	status int
	page   string
	at     *url.URL // where the page is, or where the application gets a code
}

func (c *company) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{company: c,
		client: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if !strings.HasPrefix(r.URL.String(), c.origin) {
				return http.ErrUseLastResponse
			}
			return nil
		}}}
}

func (b *browser) open(path string) *browser {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.origin+path, nil)
	must(b.T, err)
	return b.send(r)
}

func (b *browser) post(path string, form url.Values) *browser {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.origin+path, strings.NewReader(form.Encode()))
	must(b.T, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.send(r)
}

func (b *browser) send(r *http.Request) *browser {
	b.Helper()
	resp, err := b.client.Do(r)
	must(b.T, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(b.T, err)
	b.status, b.page, b.at = resp.StatusCode, string(body), resp.Request.URL
	if to, err := resp.Location(); err == nil {
		b.at = to
	}
	return b
}

var (
	forms  = regexp.MustCompile(`(?s)<form method="post" action="([^"]+)">.*?</form>`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	links  = regexp.MustCompile(`(?s)<a [^>]*href="([^"]+)"[^>]*>(.*?)</a>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
)

// press sends the form of the page whose text or address has this in it, with what is typed.
func (b *browser) press(which string, typed ...string) *browser {
	b.Helper()
	for _, form := range forms.FindAllStringSubmatch(b.page, -1) {
		if !strings.Contains(form[0], which) {
			continue
		}
		in := url.Values{}
		for _, field := range hidden.FindAllStringSubmatch(form[0], -1) {
			in.Set(field[1], html.UnescapeString(field[2]))
		}
		for i := 0; i < len(typed); i += 2 {
			in.Set(typed[i], typed[i+1])
		}
		return b.post(form[1], in)
	}
	b.Fatalf("there is no form %q to press: %s", which, b.page)
	return b
}

func (b *browser) follow(label string) *browser {
	b.Helper()
	for _, link := range links.FindAllStringSubmatch(b.page, -1) {
		if tags.ReplaceAllString(link[2], "") == label {
			return b.open(html.UnescapeString(link[1]))
		}
	}
	b.Fatalf("there is no link %q: %s", label, b.page)
	return b
}

func (b *browser) sees(status int, texts ...string) *browser {
	b.Helper()
	for _, text := range texts {
		if !strings.Contains(b.page, text) {
			b.Errorf("the page does not say %q: %s", text, b.page)
		}
	}
	if b.status != status {
		b.Fatalf("%s = %d %s, want %d", b.at, b.status, b.page, status)
	}
	return b
}

// learns returns what the application gets for the code that the browser has brought.
func (b *browser) learns() (token, userinfo map[string]any) {
	b.Helper()
	if !strings.HasPrefix(b.at.String(), callback+"?") || b.at.Query().Get("state") != "xyz" {
		b.Fatalf("the browser is at %s, want the application's with its state: %s", b.at, b.page)
	}
	resp, err := http.PostForm(b.origin+"/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {b.app.ID}, "client_secret": {b.app.AppKey().Reveal()},
		"redirect_uri": {callback}, "code": {b.at.Query().Get("code")},
	})
	must(b.T, err)
	token = b.object(resp)
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.origin+"/oauth/userinfo", nil)
	must(b.T, err)
	bearer, _ := token["access_token"].(string)
	r.Header.Set("Authorization", "Bearer "+bearer)
	resp, err = http.DefaultClient.Do(r)
	must(b.T, err)
	return token, b.object(resp)
}

func (b *browser) object(resp *http.Response) (o map[string]any) {
	b.Helper()
	defer resp.Body.Close()
	must(b.T, json.NewDecoder(resp.Body).Decode(&o))
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("%s = %d %v", resp.Request.URL.Path, resp.StatusCode, o)
	}
	return o
}
