package oidc_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/storage"
)

// The address is asked for where an application asks for it, and is confirmed if the provider has verified it and is
// trusted.
func TestAddressIsToldAndConfirmedOnlyIfTheProviderIsTrusted(t *testing.T) {
	for _, row := range []struct {
		person           string
		asked, trusted   bool
		email, confirmed string
	}{
		{"lin", false, true, "", ""}, {"lin", true, false, "lin@example.com", ""},
		{"lin", true, true, "lin@example.com", "lin@example.com"},
		{"omar", true, true, "omar@example.com", ""}, // whose address is at userinfo, and is not verified
	} {
		p := newProvider(t)
		p.c.TrustEmail = row.trusted
		c := p.connect()
		must(t, leaving(t.Context(), c))
		at, err := url.Parse(begun(t.Context(), c, connector.Asked{Email: row.asked}))
		must(t, err)
		if got := strings.Contains(at.Query().Get("scope"), "email"); got != row.asked {
			t.Errorf("%+v: the provider is asked for %q", row, at.Query().Get("scope"))
		}
		profile, err := p.finish(c, p.leave(at, row.person, ""))
		if err != nil || profile.Email != row.email || profile.ConfirmedEmail != row.confirmed {
			t.Errorf("%+v: %q and %q, %v", row, profile.Email, profile.ConfirmedEmail, err)
		}
	}
	if _, err := oidc.New(oidc.Config{Name: "e", Issuer: oidc.Entra("9188040d-6c67-4c5b-b112-36a304b66dad"), ClientID: "e",
		ClientSecret: storage.NewSecret("secret-of-e"), TrustEmail: true}); err == nil ||
		!strings.Contains(err.Error(), "TrustEmail") {
		t.Errorf("Entra, which verifies nothing: %v", err)
	}
}
