package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestNewSecretIsShownOnceToTheSessionThatDrewIt(t *testing.T) {
	h := newFixture(t)
	mina, other := h.testUser("mina", storage.RoleDeveloper), h.testUser("root", storage.RoleAdmin)
	page := "/console/apps/" + h.app("Shop", mina.Sub).ID
	form := url.Values{"form": {h.formOn(h.open(page+"/danger", mina.cookie))}, "do": {"secret"},
		"overlap_seconds": {"0"}}
	r := httptest.NewRequest("POST", base+page+"/danger", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "curl/8")
	r.Header.Set("Cookie", mina.cookie)
	w := httptest.NewRecorder()
	h.console.ServeHTTP(w, r)
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || at != page+"?shown=once" || w.Body.Len() > 0 {
		t.Fatalf("the form is answered with %d, %q and %s", w.Code, at, w.Body)
	}
	const says = "This is the only time that the secret is shown"
	for _, step := range []struct {
		who    string
		cookie string
		shown  bool
	}{{"another user", other.cookie, false}, {"its user", mina.cookie, true}, {"its user, who loads it again", mina.cookie,
		false}} {
		w := h.open(at, step.cookie)
		if got := strings.Contains(w.Body.String(), says); got != step.shown || w.Code != 200 {
			t.Errorf("%s is shown the secret: %v, with %d", step.who, got, w.Code)
		}
	}
}
