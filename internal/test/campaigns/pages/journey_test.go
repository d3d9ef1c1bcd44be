package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/internal/test/filled"
)

// A tab does what every browser does for a person.
type tab interface {
	Open(url string)
	Arrive()
	Follow(selector string)
	Click(selector string)
	Type(selector, text string)
	Text(selector string) string
	Attribute(selector, name string) string
	URL() string
	Faults() []string
}

// browsers starts each browser, and returns functions that open a tab of somebody who was never here.
var browsers = map[string]func(t *testing.T) func(t *testing.T) tab{
	"Chromium": func(t *testing.T) func(t *testing.T) tab {
		b := browser.Launch(t)
		return func(t *testing.T) tab { return b.Tab(t, browser.Desktop.In("en")) }
	},
	"Firefox": func(t *testing.T) func(t *testing.T) tab {
		f := browser.LaunchFirefox(t)
		return func(t *testing.T) tab { return f.Tab(t) }
	},
}

// onward is an application whose callback leads on at once, as that of a proxy for many sites does, or of an agent that
// is a program on the device.
type onward struct {
	*httptest.Server
	to     string      // where its callback leads
	called chan string // the queries that the callback was asked with
}

func leadsOn(t *testing.T) *onward {
	t.Helper()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<link rel="icon" href="data:,"><h1>Arrived</h1>`))
	}))
	o := &onward{to: strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/arrived",
		called: make(chan string, 10)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cb" {
			o.called <- r.URL.RawQuery
			http.Redirect(w, r, o.to, http.StatusFound)
		}
	}))
	t.Cleanup(func() { elsewhere.Close(); o.Close() })
	return o
}

// journey is somebody on the way to an application.
type journey struct {
	tab
	t       *testing.T
	s       *service
	o       *onward
	another func(t *testing.T) tab
	apps    map[string]map[string]any // "asks" for consent, "own" does not
	mails   int
	key     string // of the authenticator app of tess
}

// sets makes a service, people and applications.
func sets(t *testing.T, another func(t *testing.T) tab) *journey {
	t.Helper()
	s := start(t, t.TempDir(), "--fake-providers", "--signup", "open", "--limits-per-ip", "100000")
	j := &journey{t: t, tab: another(t), s: s, o: leadsOn(t), another: another, apps: map[string]map[string]any{}}
	domain := strings.TrimPrefix(j.o.URL, "http://")
	for name, firstParty := range map[string]string{"asks": "false", "own": "true"} {
		j.apps[name] = must(t, "app", "create", "--data", s.data, "--name", name, "--domain", domain)
		must(t, "app", "set", j.id(name), "--data", s.data, "--first-party="+firstParty)
	}
	for _, name := range []string{"ada", "tess"} {
		must(t, "user", "create", "--data", s.data, "--username", name, "--password", browserPassword)
	}
	must(t, "user", "set", "--data", s.data, "ada", "--email", "ada@example.org", "--email-verified")
	j.at("/oauth/signin")
	j.signsIn("tess")
	j.at("/oauth/account/factors/app")
	j.key = j.Text("code.key")
	j.Type("#code", appShows(t, j.key, 0))
	j.Follow("form button[type=submit]")
	return j
}

func (j *journey) at(path string) {
	j.t.Helper()
	j.Open(j.s.base + path)
}

func (j *journey) id(app string) string { return j.apps[app]["client_id"].(string) }

func (j *journey) asks(app string) {
	j.t.Helper()
	j.at(filled.AuthorizePath(j.id(app), j.o.URL+"/cb", "openid"))
}

// named fills in a name and the password, and returns what sends them.
func (j *journey) named(who string) (click string) {
	j.t.Helper()
	j.Type("#username", who)
	j.Type("#password", browserPassword)
	return "form button[type=submit]"
}

func (j *journey) signsIn(who string) {
	j.t.Helper()
	j.Follow(j.named(who))
}

func (j *journey) mailed(to string) string {
	j.t.Helper()
	j.mails++
	return j.s.mailed(j.t, j.mails, to)
}

// agent registers an application that nobody here knows, and returns its client_id.
func (j *journey) agent() string {
	j.t.Helper()
	asked := strings.NewReader(`{"redirect_uris":["` + j.o.URL + `/cb"]}`)
	answer, err := http.Post(j.s.base+"/oauth/register", "application/json", asked)
	if err != nil {
		j.t.Fatal(err)
	}
	defer answer.Body.Close()
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.ID == "" {
		j.t.Fatalf("no agent registers: %d %v", answer.StatusCode, err)
	}
	return made.ID
}
