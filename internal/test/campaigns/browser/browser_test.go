package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClickFollowsALinkAndTypingFillsAForm(t *testing.T) {
	p := Start(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><link rel=icon href=data:,><a href="/form">on</a>`)
		case "/form":
			fmt.Fprint(w, `<!doctype html><link rel=icon href=data:,><form method=post action=/said><input name=word><button>go</button></form>`)
		case "/said":
			fmt.Fprintf(w, `<!doctype html><link rel=icon href=data:,><p>%s`, r.FormValue("word"))
		}
	}))
	defer site.Close()
	p.Open(site.URL)
	p.Follow("a")
	p.Type("input", "hello")
	p.Follow("button")
	if got := p.Text("p"); got != "hello" || p.URL() != site.URL+"/said" {
		t.Errorf("Text(p) = %q at %s", got, p.URL())
	}
	if faults := p.Faults(); len(faults) > 0 {
		t.Errorf("Faults() = %q on a page without any", faults)
	}
}

func TestViolationOfThePolicyIsAFault(t *testing.T) {
	p := Start(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:")
		fmt.Fprint(w, `<!doctype html><link rel=icon href=data:,><style>p{color:red}</style><p>x`)
	}))
	defer site.Close()
	p.Open(site.URL)
	if faults := p.Faults(); len(faults) == 0 || !strings.Contains(strings.Join(faults, ""), "style") {
		t.Errorf("Faults() = %q, want the style that was blocked", faults)
	}
}
