package legacy_test

import (
	"net/http/httptest"
	"testing"
)

func TestVaryThatIsThereAlreadyStays(t *testing.T) {
	h := newFixture(t)
	r, w := byFetch(h, form("act", "check_sso", "appid", h.app.ID)), httptest.NewRecorder()
	w.Header().Set("Vary", "Accept-Encoding")
	h.mux.ServeHTTP(w, r)
	if got := w.Header()["Vary"]; len(got) != 1 || got[0] != "Accept-Encoding, Origin, Sec-Fetch-Site" {
		t.Errorf("Vary: %q", got)
	}
}
