package oauth_test

import (
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/test/forgery"
)

func TestForgedTokensAreRefused(t *testing.T) {
	h := newFixture(t)
	service := forgery.Service{Keys: must(h.store.SigningKeys(t.Context()))(t), Issuer: issuer, ClientID: h.app.ID,
		Sub: h.user.Sub}
	if a := h.userInfo(forgery.Genuine(t, service)); a.status != 200 {
		t.Fatalf("a genuine token = %d %v: the forgeries would prove nothing", a.status, a.body)
	}
	forged := forgery.All(t, service)
	if len(forged) < 40 {
		t.Errorf("%d forgeries, want at least 40", len(forged))
	}
	for _, f := range forged {
		r := httptest.NewRequest("GET", "/oauth/userinfo", nil)
		r.Header.Set("Authorization", "Bearer "+f.Token)
		if a := h.answer(h.serve(r)); a.status != 401 || a.number("errcode") != 401 {
			t.Errorf("%s: userinfo = %d %v, want 401 with errcode 401", f.Name, a.status, a.body)
		}
	}
}
