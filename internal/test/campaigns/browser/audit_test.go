package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const whole = `<!doctype html><html lang="en"><head><title>A page</title><link rel="icon" href="data:,"></head><body><main><h1>A page</h1>%s</main></body></html>`

// Each planted fault has to be found, and nothing else; and the policy that forbids every
// script stays in force.
func TestAuditFindsWhatIsPlanted(t *testing.T) {
	planted := map[string]string{
		"label":          `<input type="text">`,
		"color-contrast": `<p><font color="#bbbbbb">pale</font></p>`,
		"image-alt":      `<img src="data:,">`,
		"button-name":    `<button></button>`,
		"target-size":    `<button style="all: unset">a</button><button style="all: unset">b</button>`,
		"heading-order":  `<h4>deep</h4>`,
		"":               `<p>nothing is wrong with this</p>`,
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src-attr 'unsafe-inline'")
		fmt.Fprintf(w, whole, planted[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	defer site.Close()
	p := Start(t)
	for rule := range planted {
		p.Open(site.URL + "/" + rule)
		if wrong, _ := p.AuditColours(); (len(wrong) > 0) != (rule == "color-contrast") {
			t.Errorf("%q: of the colours the audit finds %v", rule, wrong)
		}
		wrong, _ := p.Audit()
		var got []string
		for _, f := range wrong {
			got = append(got, f.ID)
		}
		if want := strings.Fields(rule); !slices.Equal(got, want) {
			t.Errorf("%q: the audit finds %v", rule, wrong)
		}
	}
	if faults := p.Faults(); len(faults) > 0 {
		t.Errorf("the audit itself is a fault: %q", faults)
	}
}

func TestTabsShareNoCookie(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
		fmt.Fprintf(w, whole, fmt.Sprintf("<p>%d %s %t</p>", len(r.Cookies()), r.Header.Get("Accept-Language"),
			strings.Contains(r.UserAgent(), "Mobile")))
	}))
	defer site.Close()
	b := Launch(t)
	one, two := b.Tab(t, Desktop.In("en")), b.Tab(t, Phone.In("zh-CN"))
	one.Open(site.URL)
	one.Open(site.URL)
	two.Open(site.URL)
	if got := one.Text("p"); got != "1 en false" {
		t.Errorf("the second visit of the first tab: %q", got)
	}
	if got := two.Text("p"); got != "0 zh-CN true" {
		t.Errorf("the first visit of the second tab: %q", got)
	}
}

func TestFocusIsSeenOnlyWithAnOutline(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, whole, `<style>.bare { outline: none } a { outline: 3px solid }</style><a href="/x">seen</a> <a class="bare" href="/y">unseen</a>`)
	}))
	defer site.Close()
	p := Start(t)
	p.Open(site.URL)
	for _, want := range []Focus{{}, {"seen", true}, {"unseen", false}} {
		if got := p.Focus(); got != want {
			t.Errorf("the focus is on %+v, want %+v", got, want)
		}
		p.Press("Tab")
	}
}

func TestPageRunsNoScriptsWithScriptsOff(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, whole, `<p>still</p><noscript><input></noscript><script>document.querySelector("p").textContent = "moved"</script>`)
	}))
	defer site.Close()
	p := Start(t)
	for on, want := range map[bool]string{true: "moved", false: "still"} {
		p.Scripts(on)
		p.Open(site.URL)
		if wrong, _ := p.Audit(); len(wrong) > 0 == on {
			t.Errorf("scripts %t: the audit finds %v", on, wrong)
		}
		if got := p.Text("p"); got != want {
			t.Errorf("scripts %t: %q, want %q", on, got, want)
		}
	}
}

func TestPageThatIsTooWideIsNoticed(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, whole, `<style>p { width: 700px }</style><p>x`)
	}))
	defer site.Close()
	p := Start(t)
	p.Open(site.URL)
	if p.Overflows() {
		t.Error("700 of 1280 pixels overflow")
	}
	p.Magnify(2)
	if !p.Overflows() {
		t.Error("700 of 640 pixels do not overflow")
	}
}
