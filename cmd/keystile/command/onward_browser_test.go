package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/browser"
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

// browsers starts each browser, and return what opens a tab of somebody who was never here.
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
	o := &onward{to: strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/arrived", called: make(chan string, 10)}
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

// waysOn lead to the page that ends in a redirect to the application, and return what has to be clicked there; "" if the
// page goes on by itself.
var waysOn = []struct {
	name string
	lead func(j *journey) (click string)
}{
	{"a no", func(j *journey) string {
		j.asks("asks")
		j.signsIn("ada")
		return "button[name=deny]"
	}},
	{"consent", func(j *journey) string {
		j.asks("asks")
		j.signsIn("ada")
		return "button[name=allow]"
	}},
	{"the consent for an agent", func(j *journey) string {
		j.at(authorizePath(j.agent(), j.o.URL+"/cb", "openid"))
		j.signsIn("ada")
		return "button[name=allow]"
	}},
	{"a password", func(j *journey) string {
		j.asks("own")
		return j.named("ada")
	}},
	{"signing up", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/signup"]`)
		j.named("grace")
		return "main form button[type=submit]"
	}},
	{"a code by email", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/email"]`)
		j.Type("#address", "mina@example.org")
		j.Follow("form [type=submit]")
		j.Type("#code", j.mailed("mina@example.org"))
		return "form [type=submit]"
	}},
	{"a new password", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/reset"]`)
		j.Type("#address", "ada@example.org")
		j.Follow("form [type=submit]")
		j.Type("#code", j.mailed("ada@example.org"))
		j.Type("#password", browserPassword)
		j.mails++ // that it has changed
		return "form [type=submit]"
	}},
	{"a second factor", func(j *journey) string {
		j.asks("own")
		j.signsIn("tess")
		j.Type("#code", appShows(j.t, j.key, 1))
		return "form button[type=submit]"
	}},
	{"a phone that confirms", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/qr"]`)
		phone := *j
		phone.tab = j.another(j.t)
		phone.at("/oauth/signin/scan/" + j.Attribute("#collect [name=id]", "value"))
		phone.signsIn("ada")
		phone.Follow("button[value=confirm]")
		return ""
	}},
	{"a provider", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/with/wx"]`)
		return `button[value="lin"]`
	}},
	{"signing out", func(j *journey) string {
		j.at("/oauth/signin")
		j.signsIn("ada")
		j.at("/oauth/logout?client_id=" + j.id("own") + "&post_logout_redirect_uri=" + j.o.URL + "/cb")
		return "main form button"
	}},
	{"a password, begun at connect.php", func(j *journey) string {
		form := url.Values{
			"act": {"login"}, "type": {"self"}, "appid": {j.id("own")}, "appkey": {j.apps["own"]["client_secret"].(string)},
			"redirect_uri": {j.o.URL + "/cb"}, "state": {"s"},
		}
		var began struct{ URL string }
		_, body := get(j.t, http.DefaultClient, j.s.base+"/connect.php?"+form.Encode())
		if err := json.Unmarshal([]byte(body), &began); err != nil {
			j.t.Fatal(err, body)
		}
		j.Open(began.URL)
		return j.named("ada")
	}},
}

// A browser goes wherever the application leads on to, from each page that ends in a redirect: to another site, or to a
// program on the device.
func TestAnApplicationMayLeadOnToAnotherSite(t *testing.T) {
	for name, launch := range browsers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			another := launch(t)
			for _, program := range []bool{false, true} {
				j := sets(t, another)
				where := "to another site"
				if program {
					where, j.o.to = "to a program", "com.example.agent:/done"
				}
				for _, way := range waysOn {
					t.Run(where+" by "+way.name, func(t *testing.T) {
						j.t, j.tab = t, another(t)
						j.goes(way.lead(j), program)
					})
				}
			}
		})
	}
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

// goes follows the last click of a way to where the application leads on to.
func (j *journey) goes(click string, program bool) {
	j.t.Helper()
	switch {
	case !program && click == "":
		j.Arrive()
	case !program:
		j.Follow(click)
	case click != "":
		j.Click(click)
	}
	select {
	case <-j.o.called:
	case <-time.After(20 * time.Second):
		j.t.Fatalf("nobody comes to the application; at %s: %v", j.URL(), j.Faults())
	}
	if !program && j.URL() != j.o.to {
		j.t.Errorf("the way ends at %s", j.URL())
	}
	for _, fault := range j.Faults() {
		j.t.Errorf("the browser complains: %s", fault)
	}
}

func (j *journey) at(path string) {
	j.t.Helper()
	j.Open(j.s.base + path)
}

func (j *journey) id(app string) string { return j.apps[app]["client_id"].(string) }

func (j *journey) asks(app string) {
	j.t.Helper()
	j.at(authorizePath(j.id(app), j.o.URL+"/cb", "openid"))
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
