package oauth_test

import (
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
)

// The findings of the gateway are believed, for tokens that are meant for this service.
func TestUserInfoTrustsTheGatewayForItsOwnAudience(t *testing.T) {
	h := newFixture(t)
	for audience, want := range map[string]int{issuer: 200, issuer + "/api/mcp": 401, "": 401} {
		r := httptest.NewRequest("GET", "/oauth/userinfo", nil)
		v := &reqctx.Visit{Context: r.Context(), Known: true, Caller: storage.Caller{AppID: h.app.ID, UserID: h.user.Sub,
			Audience: audience, Scope: "openid"}}
		if a := h.answer(h.serve(r.WithContext(v))); a.status != want {
			t.Errorf("a caller for %q: userinfo = %d, want %d", audience, a.status, want)
		}
	}
}
