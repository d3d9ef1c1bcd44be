package pages

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// walkthrough drives a browser as one user, on one device and in one language, at a service that has the fakes of all
// providers and an application that asks for consent.
type walkthrough struct {
	*browser.Page
	t      *testing.T
	b      *browser.Browser
	s      *service
	device browser.Device
	reads  reader
	looked *looked
	mails  int // that the service has been asked for
}

// reader holds the header by which a browser names its language.
type reader struct {
	name   string
	lang   page.Lang
	header string // Accept-Language
	asks   bool   // the application asks for the language in their place, by ui_locales
}

var (
	english    = reader{name: "en", lang: page.English, header: "en"}
	chinese    = reader{name: "zh-CN", lang: page.Chinese, header: "zh-CN,zh;q=0.9,en;q=0.5"}
	byTheirApp = reader{name: "zh-CN by ui_locales", lang: page.Chinese, header: "en", asks: true}
)

// everyReader, set to anything, has each reader use each device and browser, and not one each.
const everyReader = "EVERY_READER"

// each visits a service of its own with each device, as each reader, all at once.
func each(t *testing.T, readers []reader, do func(v *walkthrough)) {
	b, all := browser.Launch(t), &looked{at: map[string]bool{}}
	devices := []browser.Device{browser.Desktop, browser.Phone}
	t.Run("as", func(t *testing.T) {
		for i, device := range devices {
			for j, reads := range readers {
				if os.Getenv(everyReader) == "" && i != j%len(devices) {
					continue
				}
				t.Run(device.Name+" "+reads.name, func(t *testing.T) {
					t.Parallel()
					v := &walkthrough{t: t, b: b, s: fakes(t), reads: reads, looked: all}
					v.with(device)
					do(v)
				})
			}
		}
	})
}

// alone is one visitor with a desktop who reads English, and has a browser of their own.
func alone(t *testing.T) *walkthrough {
	t.Helper()
	v := &walkthrough{t: t, b: browser.Launch(t), s: fakes(t), reads: english, looked: &looked{at: map[string]bool{}}}
	v.with(browser.Desktop)
	return v
}

// appName names the application.
const appName = "Blue Whale"

// fakes starts a service with all that people can meet. Its pages ask more of it than one
// walkthrough does in a minute.
func fakes(t *testing.T) *service {
	t.Helper()
	s := start(t, t.TempDir(), "--fake-providers", "--signup", "open", "--limits-per-ip", "100000")
	must(t, "app", "set", firstRunOf(t, s.data).App.ClientID, "--data", s.data, "--first-party=false", "--name", appName)
	return s
}

// with gives the visitor a device that has not been here before.
func (v *walkthrough) with(d browser.Device) {
	v.t.Helper()
	v.device = d.In(v.reads.header)
	v.Page = v.b.Tab(v.t, v.device)
}

// says makes sure which page this is, by its heading.
func (v *walkthrough) says(text string, args ...string) {
	v.t.Helper()
	if got, want := v.Text("h1"), v.reads.lang.T(text, args...); got != want {
		v.t.Fatalf("the page is %q, want %q, at %s: %s", got, want, v.URL(), v.Text("body"))
	}
}

// at opens a page of the service.
func (v *walkthrough) at(path string) {
	v.t.Helper()
	v.Open(v.s.base + path)
}

// showCode goes on from the sign-in page to a code to scan. A phone cannot scan what it shows
// itself, so the link is hidden there; the page behind it works all the same.
func (v *walkthrough) showCode() {
	v.t.Helper()
	const link = `a[href^="/oauth/signin/qr"]`
	if v.device.Phone {
		v.at(v.Attribute(link, "href"))
		return
	}
	v.Follow(link)
}

// begin goes from the demo to the sign-in page.
func (v *walkthrough) begin() {
	v.t.Helper()
	v.at("/demo")
	v.Follow("a.button")
	if v.reads.asks {
		v.Open(v.URL() + "&ui_locales=" + string(v.reads.lang))
	}
}

// password fills in the sign-in form as the admin.
func (v *walkthrough) password() {
	v.t.Helper()
	who := firstRunOf(v.t, v.s.data).Admin
	v.Type("#username", who.Username)
	v.Type("#password", who.Password)
	v.Follow("form button[type=submit]")
}

// at a provider, somebody who does not exist is chosen.
func (v *walkthrough) provider(name, user string) {
	v.t.Helper()
	v.Follow(`a[href^="/oauth/signin/with/` + name + `"]`)
	v.look("provider")
	v.Follow(`button[value="` + user + `"]`)
}

var bearerOnPage = regexp.MustCompile(`Bearer ([\w.-]+)`)

// arrive allows what the application asks for, if it has to, and returns what that is told
// in the end.
func (v *walkthrough) arrive() (claims map[string]any) {
	v.t.Helper()
	if strings.HasPrefix(v.URL(), v.s.base+"/oauth/authorize") {
		v.says("Allow %s?", appName)
		v.look("consent")
		v.Follow("button[name=allow]")
	}
	if v.URL() != v.s.base+"/demo/result" {
		v.t.Fatalf("the way ends at %s: %s", v.URL(), v.Text("body"))
	}
	v.look("claims")
	token := bearerOnPage.FindStringSubmatch(v.Text("#curl"))
	if token == nil {
		v.t.Fatalf("there is no token on the page: %s", v.Text("#curl"))
	}
	_, body := get(v.t, http.DefaultClient, v.s.base+"/oauth/userinfo", "Authorization", "Bearer "+token[1])
	if err := json.Unmarshal([]byte(body), &claims); err != nil {
		v.t.Fatal(err, body)
	}
	for _, name := range []string{"sub", "login_type"} {
		if text, _ := claims[name].(string); text == "" || !strings.Contains(v.Text("#claims"), text) {
			v.t.Errorf("userinfo says %s %q, the page %s", name, text, v.Text("#claims"))
		}
	}
	return claims
}

// quiet makes sure that the browser had nothing to complain of but answers with these
// statuses, which the test wanted. The icon of a program that has stopped listening is one
// more: a browser asks for it when the program may have its code and be gone.
func (v *walkthrough) quiet(wanted ...string) {
	v.t.Helper()
	for _, fault := range v.Faults() {
		expected := strings.Contains(fault, "ERR_CONNECTION_REFUSED") && strings.Contains(fault, "/favicon.ico")
		for _, status := range wanted {
			expected = expected || strings.Contains(fault, "the server responded with a status of "+status)
		}
		if !expected {
			v.t.Errorf("the browser complains: %s", fault)
		}
	}
}

// looked is at which pages somebody has looked closely: once with each device and in each
// language is enough.
type looked struct {
	mu sync.Mutex
	at map[string]bool
}

func (l *looked) first(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.at[name] = true }()
	return !l.at[name]
}

// inEnglish are the pages for people who try the service out, in no other language.
var inEnglish = map[string]bool{"demo": true, "claims": true, "demo-no": true, "provider": true,
	"provider-bad": true}

// look holds a page against what makes it fit for everybody: axe-core finds nothing, light
// and dark; nothing is wider than the window, nor at twice the size; it is in the language
// of the reader. With KEYSTILE_SCREENSHOTS=folder pictures are kept there.
func (v *walkthrough) look(name string) {
	v.t.Helper()
	name += "-" + string(v.reads.lang) + "-" + v.device.Name
	if !v.looked.first(name) {
		return
	}
	want := v.reads.lang
	if plain, _, _ := strings.Cut(name, "-"+string(v.reads.lang)); inEnglish[plain] {
		want = page.English
	}
	if got := v.Attribute("html", "lang"); got != string(want) {
		v.t.Errorf("%s is in %q, want %q", name, got, want)
	}
	for _, times := range []int{2, 4, 1} {
		if v.Magnify(times); v.Overflows() {
			v.t.Errorf("%s is wider than its window at %d00 %%", name, times)
		}
	}
	v.design(name, want)
	for _, dark := range []bool{true, false} {
		v.Dark(dark)
		scheme := map[bool]string{true: "dark", false: "light"}[dark]
		audit := v.Audit
		if dark {
			audit = v.AuditColours
		}
		wrong, unsure := audit()
		for _, f := range wrong {
			v.t.Errorf("%s, %s: %s", name, scheme, f)
		}
		for _, f := range unsure {
			v.t.Logf("%s, %s, for a user to judge: %s", name, scheme, f)
		}
		if folder := os.Getenv("KEYSTILE_SCREENSHOTS"); folder != "" {
			v.Screenshot(filepath.Join(folder, name+"-"+scheme+".png"))
		}
	}
}
