package gateway_test

import (
	"testing"

	"github.com/keystile/keystile/storage"
)

// inner are addresses of one's own machine or network, as an owner might write them, with their domain.
var inner = map[string]string{
	"127.0.0.1": "http://127.0.0.1:8080/admin/delete?force=1", "localhost": "http://localhost/", "[::1]": "https://[::1]/",
	"10.0.0.1":        "https://10.0.0.1/",
	"169.254.169.254": "https://169.254.169.254/latest", "vault.internal": "https://vault.internal/", "db": "https://db/",
	"[::ffff:127.0.0.1]": "https://[::ffff:127.0.0.1]/",
}

func TestOwnersApplicationIsToldNothingInAPrivateNetwork(t *testing.T) {
	h := newFixture(t)
	for _, role := range []string{"", storage.RoleDeveloper, storage.RoleAdmin} {
		p := h.testUser("p"+role, role)
		id, _ := h.made(p, `{"name":"A","domains":["app.example.com"],"backchannel_logout_uri":"https://app.example.com/out"}`)
		for domain, uri := range inner {
			body := `{"name":"B","domains":["` + domain + `","app.example.com"],"backchannel_logout_uri":"` + uri + `"}`
			for _, a := range []answer{h.do("POST", "/api/v1/apps", p.bearer, body),
				h.do("PATCH", "/api/v1/apps/"+id, p.bearer, body)} {
				if a.status != 403 && a.status != 400 {
					t.Errorf("%q as %q: %d %s", uri, role, a.status, a.text)
				}
			}
		}
		if a := must(h.store.App(t.Context(), id))(t); a.Name != "A" ||
			a.BackchannelLogoutURI != "https://app.example.com/out" || a.OperatorLogoutURI != "" {
			t.Errorf("as %q stored is %+v", role, a)
		}
		if apps, _, err := h.store.Apps(t.Context(), p.Sub, "", 10); err != nil || len(apps) != 1 {
			t.Errorf("as %q there are %d, %v", role, len(apps), err)
		}
	}
}

// Stored values stay, and the owner changes everything else.
func TestPrivateAddressThatIsStoredStandsInNobodysWay(t *testing.T) {
	h := newFixture(t)
	p := h.testUser("ann", "")
	a := must(h.store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"127.0.0.1"},
		BackchannelLogoutURI: "http://127.0.0.1/out", Owner: p.Sub}))(t)
	h.want(h.do("PATCH", "/api/v1/apps/"+a.ID, p.bearer, `{"name":"B","backchannel_logout_uri":"http://127.0.0.1/out"}`), 200, "the same")
	h.want(h.do("PATCH", "/api/v1/apps/"+a.ID, p.bearer, `{"backchannel_logout_uri":"http://127.0.0.1/other"}`), 403, "another path")
	h.want(h.do("PATCH", "/api/v1/apps/"+a.ID, p.bearer, `{"backchannel_logout_uri":""}`), 200, "nowhere")
}

func TestTokenDoesNotTakeBackWhatAnOperatorHolds(t *testing.T) {
	h := newFixture(t)
	for _, role := range []string{"", storage.RoleAdmin} {
		p := h.testUser("p"+role, role)
		a := must(h.store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"app.example.com"}, MFA: "required",
			Owner: p.Sub, Held: []string{"mfa"}}))(t)
		for _, mfa := range []string{"", "off", "offered"} {
			h.want(h.do("PATCH", "/api/v1/apps/"+a.ID, p.bearer, `{"mfa":"`+mfa+`"}`), 403, "mfa "+mfa)
		}
		h.want(h.do("PATCH", "/api/v1/apps/"+a.ID, p.bearer, `{"name":"B","mfa":"required"}`), 200, "what is not held")
		if a := must(h.store.App(t.Context(), a.ID))(t); a.MFA != "required" || a.Name != "B" {
			t.Errorf("stored is %+v", a)
		}
	}
}
