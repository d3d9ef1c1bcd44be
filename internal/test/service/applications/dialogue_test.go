package applications

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

// Each product signs Ada in, by the requests that it sends with the settings of the page, at a service that has what
// the page's commands make. Eve is in none of its groups.
func TestProductsSignInWithTheSettingsOfTheGuide(t *testing.T) {
	everywhere, products := read(t)
	s := newSite(t)
	for _, words := range everywhere.commands {
		s.do(t, words)
	}
	s.know(t, storage.User{Username: "eve"})
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("/test/id_token", s.verified)
	for _, product := range products {
		t.Run(product.product, func(t *testing.T) {
			for _, words := range product.commands {
				s.do(t, words)
			}
			all, err := dialogue.Read(product.file())
			if err != nil || len(all) == 0 {
				t.Fatalf("%s: %v", product.file(), err)
			}
			for _, d := range all {
				d.Play(t, mux, issuer, maps.Clone(s.values))
			}
			s.compare(t, product)
		})
	}
}

// file returns where the dialogues of a product are.
func (s section) file() string {
	name := strings.ToLower(strings.ReplaceAll(s.product, " ", ""))
	return filepath.Join("testdata/dialogues", name+".txt")
}

var (
	scopes    = regexp.MustCompile(`\bopenid(?:["', ]+(?:profile|email|groups)\b)+`)
	authorize = regexp.MustCompile(`(?m)^> GET (/oauth/authorize\S+)`)
	address   = regexp.MustCompile(`https://(\w+)\.example\.com[^\s"]*`)
)

// compare holds the settings of a product, for which no command stands, to its dialogues and its application.
func (s *site) compare(t *testing.T, product section) {
	t.Helper()
	asked := strings.FieldsFunc(scopes.FindString(product.settings), func(c rune) bool { return c < 'a' || c > 'z' })
	text, err := os.ReadFile(product.file())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range authorize.FindAllStringSubmatch(string(text), -1) {
		to, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(to.Query().Get("scope")); !slices.Equal(got, asked) {
			t.Errorf("the page has the scopes %q, and the product asks for %q", asked, got)
		}
	}
	for _, m := range address.FindAllStringSubmatch(product.settings, -1) {
		switch {
		case m[1] == "id" && m[0] != issuer && s.lacks(m[0]):
			t.Errorf("the page has an address that is none of the service: %s", m[0])
		case m[1] != "id" && !slices.ContainsFunc(s.back, func(to string) bool { return strings.HasPrefix(to, m[0]) }):
			t.Errorf("the page has the address %s, and nobody is sent back there: %q", m[0], s.back)
		}
	}
	for _, name := range s.groups {
		if regexp.MustCompile(`\b`+name+`\b`).MatchString(product.settings) &&
			len(claim.Matching([]string{name}, s.app.GroupFilter...)) == 0 {
			t.Errorf("the settings name the group %s, of which the product does not learn", name)
		}
	}
	for _, rule := range s.app.Claims {
		if !strings.Contains(product.settings, rule.Claim) {
			t.Errorf("the settings do not name the claim %s", rule.Claim)
		}
	}
}

// lacks reports whether the service has nothing at an address of its own.
func (s *site) lacks(address string) bool {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
	return w.Code == http.StatusNotFound
}
