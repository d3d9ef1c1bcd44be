package legacy_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func BenchmarkLogin(b *testing.B) {
	h := newFixture(b, quietly)
	plain := form("act", "login", "appid", "1000", "appkey", appKey, "redirect_uri", redirect)
	for name, v := range map[string]func() *http.Request{
		"plain": func() *http.Request { return request("GET", "/connect.php", plain) },
		"signed": func() *http.Request {
			return request("GET", "/connect.php", h.signed(form("act", "login", "appid", "1000", "redirect_uri", redirect)))
		},
	} {
		b.Run(name, func(b *testing.B) {
			r := v()
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if h.legacy.ServeHTTP(w, r); w.Code != 200 {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

// BenchmarkCallback is a code's whole way: issued, redeemed, answered.
func BenchmarkCallback(b *testing.B) {
	h := newFixture(b, quietly)
	sso := request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "redirect_uri", redirect))
	sso.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	b.ReportAllocs()
	for b.Loop() {
		code := must(h.serve(sso).Result().Location())(b).Query().Get("code")
		h.callback(code).wants(b, "callback", 1)
	}
}
