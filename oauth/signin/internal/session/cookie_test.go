package session

import (
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func FuzzCookie(f *testing.F) {
	for _, seed := range []string{"open_sso_token=x", "open_sso_token=a; open_sso_token=b", `open_sso_token="q"`, "a=b;;=", "open_sso_token="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest("GET", "https://id.example.com/", nil)
		r.Header.Set("Cookie", header)
		switch values := CookiesOf(r); {
		case len(values) == 1 && !web.IsCookie(values[0]):
			t.Fatalf("cookiesOf(%q) = %q, want what we could have issued", header, values)
		case len(values) != len(r.CookiesNamed(CookieName)) && len(values) != 0:
			t.Fatalf("cookiesOf(%q) = %q, want all or none", header, values)
		}
	})
}
