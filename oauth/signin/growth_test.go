package signin

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/event"
)

// long is an authorize request of n bytes, most of them of its state.
func long(n int) string {
	return authorizeQuery + "&state=" + strings.Repeat("s", n-len(authorizeQuery)-len("&state="))
}

func TestRequestThatIsTooLongIsNotStored(t *testing.T) {
	h := newProviderFixture(t, nil)
	for name, ask := range map[string]func(query string) answer{
		"a code to scan": func(q string) answer { return h.do(get(web.QRPath + "?query=" + url.QueryEscape(q))) },
		"a provider":     func(q string) answer { return h.do(get(web.WithPath + "wx?query=" + url.QueryEscape(q))) },
	} {
		if a := ask(long(web.MaxStored)); a.Code >= 400 {
			t.Errorf("%s with a request of %d bytes = %d %s", name, web.MaxStored, a.Code, a.body)
		}
		a := ask(long(web.MaxStored + 1))
		if a.Code != http.StatusBadRequest || !strings.Contains(a.body, "4097 bytes") ||
			!strings.Contains(a.body, "is state with") || a.named(web.BrowserCookie) != "" {
			t.Errorf("%s with one byte more = %d %s, want 400 and what is too long", name, a.Code, a.body)
		}
		if a := ask(authorizeQuery + "&" + strings.Repeat("<x>", 2000) + "=1"); a.Code != http.StatusBadRequest ||
			strings.Contains(a.body, "x&gt;&lt;x") {
			t.Errorf("%s shows a name of a stranger's making: %d %s", name, a.Code, a.body)
		}
	}
}

func TestMailedCodeKeepsNoLongRequestEither(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		if a := b.post(otp.SignInFlow.Path, "address", minas, "query",
			long(web.MaxStored+1)); a.Code != http.StatusBadRequest || !strings.Contains(a.body, "4097 bytes") {
			t.Errorf("asking for a code = %d %s, want 400", a.Code, a.body)
		}
		if a := b.post(otp.SignInFlow.Path, "address", minas, "query", long(web.MaxStored)); a.Code != http.StatusSeeOther {
			t.Errorf("asking for a code with %d bytes = %d %s", web.MaxStored, a.Code, a.body)
		}
		a := b.post(signup.Path, "username", "newcomer", "password", password, "address", "new@example.com", "query",
			long(web.MaxStored+1))
		if a.Code != http.StatusBadRequest || !strings.Contains(a.body, "4097 bytes") {
			t.Errorf("signing up with an address = %d %s, want 400", a.Code, a.body)
		}
	})
}

func TestBrowserThatNamesItselfAtLengthIsCut(t *testing.T) {
	r := get(web.QRPath)
	r.Header.Set("User-Agent", strings.Repeat("x", 255)+"密"+strings.Repeat("x", 5000))
	if agent := web.AgentOf(r); agent != strings.Repeat("x", 255) {
		t.Errorf("a User-Agent of 5 kB is kept as %q", agent)
	}
}

// Accounts that are guessed at are written down, other refusals are only counted.
func TestRefusalNamesTheUserItWasAbout(t *testing.T) {
	var notes written
	rm := newFixture(t, func(c *Config) { c.Audit = &notes })
	rm.do(post("username", "Mina", "password", "none of hers"))
	rm.do(post("username", "nobody", "password", "none of hers"))
	rm.do(post("username", "Mina", "password", password))
	want := []event.Event{{User: rm.mina.Sub, Status: 401, Anonymous: true}, {Status: 401, Anonymous: true},
		{User: rm.mina.Sub, Status: 303}}
	for i, e := range notes {
		got := event.Event{User: e.User, Status: e.Status, Anonymous: e.Anonymous}
		if i >= len(want) || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("event %d is %+v, want %+v", i, got, want)
		}
	}
	if len(notes) != len(want) {
		t.Errorf("%d events, want %d", len(notes), len(want))
	}
	for range 20 { // by then the address is locked
		rm.do(post("username", "Mina", "password", "none of hers"))
	}
	if e := notes[len(notes)-1]; e.Status != 429 || e.User != "" || !e.Anonymous {
		t.Errorf("while locked: %+v, want nobody named: no limit is left for such attempts", e)
	}
}
