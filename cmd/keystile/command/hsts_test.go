package command

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestAnswerSaysThatTheHostIsReachedByHTTPSIfItIs(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=0") // which would switch it off for the sign-in as well
	}))
	defer upstream.Close()
	for base, want := range map[string][]string{"https://id.example.com": {"max-age=31536000"},
		"http://id.example.com": nil} {
		s := start(t, t.TempDir(), "--demo", "--base-url", base, "--gateway-products", "svc="+upstream.URL)
		host := "http://" + s.address // what a proxy that ends TLS asks
		for path, status := range map[string]int{
			"/": 200, "/healthz/live": 200, "/oauth/signin": 200, "/oauth/signin/qr.js": 200,
			"/.well-known/openid-configuration": 200, "/oauth/authorize": 400,
			"/api/v1/quota": 401, "/api/console/capabilities": 401, "/api/mcp": 401, "/connect.php": 200, "/demo": 200,
			"/nothing": 404, "/svc%2fx": 400, "/svc/x": 401,
		} {
			resp, _ := get(t, &http.Client{CheckRedirect: func(*http.Request,
				[]*http.Request) error {
				return http.ErrUseLastResponse
			}}, host+path)
			if got := resp.Header.Values("Strict-Transport-Security"); resp.StatusCode != status || !slices.Equal(got, want) {
				t.Errorf("%s%s = %d %q, want %d %q", base, path, resp.StatusCode, got, status, want)
			}
		}
		if resp, _ := get(t, http.DefaultClient, host+"/svc/x", "Authorization",
			"Bearer "+ownToken(t, s)); resp.StatusCode != 200 || !slices.Equal(resp.Header.Values("Strict-Transport-Security"),
			or(want, "max-age=0")) {
			t.Errorf("%s: the service's answer is %d %v", base, resp.StatusCode, resp.Header)
		}
	}
}

func or(values []string, otherwise string) []string {
	if values == nil {
		return []string{otherwise}
	}
	return values
}
