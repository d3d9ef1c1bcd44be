package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A tab of Firefox clicks, types and arrives as one of Chromium does, and shares no cookie with another.
func TestFirefoxIsDriven(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			http.SetCookie(w, &http.Cookie{Name: "name", Value: r.FormValue("name"), Path: "/"})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		name, _ := r.Cookie("name")
		form := `<form method="post" action="/set"><input id="name" name="name"><button>Set</button></form>`
		fmt.Fprintf(w, whole, fmt.Sprintf("<p>%v</p>%s", name, form))
	}))
	defer site.Close()
	f := LaunchFirefox(t)
	one, other := f.Tab(t), f.Tab(t)
	one.Open(site.URL)
	one.Type("#name", "Ada-1")
	one.Follow("button")
	if got := one.Text("p"); one.URL() != site.URL+"/" || !strings.Contains(got, "name=Ada-1") {
		t.Errorf("the page at %s says %q", one.URL(), got)
	}
	other.Open(site.URL)
	if got := other.Text("p"); strings.Contains(got, "Ada") {
		t.Errorf("the other tab says %q", got)
	}
	if got := one.Attribute("form", "action"); got != "/set" {
		t.Errorf("the form leads to %q", got)
	}
	one.Forget()
	if one.Open(site.URL); strings.Contains(one.Text("p"), "Ada") {
		t.Errorf("somebody new is told %q", one.Text("p"))
	}
	for _, p := range []*FirefoxPage{one, other} {
		if faults := p.Faults(); len(faults) > 0 {
			t.Errorf("the browser complains: %q", faults)
		}
	}
}
