package console_test

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// addressesText are the addresses that pages and endpoints of the console once had, each behind its method. People have
// them in their bookmarks, and programs in their code. None is taken out.
//
//go:embed testdata/addresses.txt
var addressesText string

// TestAddressOnceGivenLeadsToItsPage opens each page as an administrator, and asks each endpoint, as far as asking
// changes nothing.
func TestAddressOnceGivenLeadsToItsPage(t *testing.T) {
	s := newScene(t)
	admin := s.who["admin"].cookie
	lines := strings.Fields(addressesText)
	if len(lines) < 200 {
		t.Fatalf("only %d words are in the list", len(lines))
	}
	for i := 0; i+1 < len(lines); i += 2 {
		method, address := lines[i], s.fill(lines[i+1], "", lines[i+1])
		if method == http.MethodGet {
			if got, at := s.ends(address, admin); got != http.StatusOK {
				t.Errorf("%s ends at %s, with %d", lines[i+1], at, got)
			}
			continue
		}
		r := httptest.NewRequest(method, base+address, strings.NewReader("{}"))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if got := s.browse(r, ""); got.Code != http.StatusUnauthorized {
			t.Errorf("%s %s answers somebody who is not signed in with %d: is it not there any more?", method, lines[i+1],
				got.Code)
		}
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if got := s.browse(httptest.NewRequest(method, base+"/api/console/nothing", nil), ""); got.Code == 401 {
			t.Errorf("%s of an address that never was is answered as one that is there", method)
		}
	}
}

// ends opens an address and goes where it leads, and returns how that ends.
func (s *scene) ends(address, cookie string) (status int, at string) {
	s.Helper()
	for range 4 {
		w := s.open(address, cookie)
		to, err := url.Parse(w.Header().Get("Location"))
		if w.Code/100 != 3 || err != nil {
			return w.Code, address
		}
		address = to.RequestURI()
	}
	return http.StatusLoopDetected, address
}
