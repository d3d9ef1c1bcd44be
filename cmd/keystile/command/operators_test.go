package command

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
)

func TestAdminListenerHasWhatOperatorsNeed(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--admin-listen", "127.0.0.1:0")
	admin := "http://" + s.out.Find(t, s.ended, `Admin listener +(\S+)`)
	for path, want := range map[string]string{
		"/metrics": "keystile_build_info{", "/healthz/live": `"live"`, "/healthz/ready": `"ready"`,
		"/healthz/nodes": `"live":true,"self":true}]}`,
		"/debug/pprof/":  "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile:", "/debug/pprof/cmdline": "",
	} {
		if resp, body := get(t, http.DefaultClient, admin+path); resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s = %d %s", path, resp.StatusCode, body)
		}
		if path == "/healthz/live" || path == "/healthz/ready" {
			continue
		}
		if resp, _ := get(t, http.DefaultClient, s.base+path); resp.StatusCode != 404 {
			t.Errorf("everybody may read %s: %d", path, resp.StatusCode)
		}
	}
	for _, path := range []string{"/", "/oauth/token", "/demo"} {
		if resp, _ := get(t, http.DefaultClient, admin+path); resp.StatusCode != 404 {
			t.Errorf("the admin listener answers %s: %d", path, resp.StatusCode)
		}
	}
}

func TestMetricsCountWhatHappens(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--admin-listen", "127.0.0.1:0", "--login-lock-failures", "2", "--trusted-proxies",
		"127.0.0.1", "--lifetimes-code", "1ns")
	admin := "http://" + s.out.Find(t, s.ended, `Admin listener +(\S+)`)
	cookieOf(t, s)
	for _, want := range []int{401, 401, 429} {
		wantSignIn(t, s, "203.0.113.9", want)
	}
	machineToken(t, s, firstRunOf(t, s.data).App.ClientID, firstRunOf(t, s.data).App.ClientSecret)
	redeem(t, s, authorize(t, s), 400)
	for i := range 200 { // what clients make up must not make series
		get(t, http.DefaultClient, fmt.Sprintf("%s/%d/oauth/token?x=%d", s.base, i, i))
	}
	_, text := get(t, http.DefaultClient, admin+"/metrics")
	for _, want := range []string{
		`keystile_sign_ins_total{result="failed"} 2`, `keystile_sign_ins_total{result="locked"} 1`, `keystile_sign_ins_total{result="ok"} 2`,
		`keystile_tokens_issued_total{grant_type="client_credentials"} 1`, `keystile_tokens_issued_total{grant_type="authorization_code"} 0`,
		`keystile_http_requests_total{method="GET",route="other",status="4xx"} 200`,
		`keystile_http_requests_total{method="POST",route="/oauth/token",status="4xx"} 1`,
		`keystile_http_requests_in_flight 0`, "keystile_ready 1\n",
		`keystile_events_total{kind="signin",status="4xx"} 3`, `keystile_events_total{kind="token",status="2xx"} 1`,
		`keystile_connections_max{listener="public"} `, `keystile_connections_max{listener="socket"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the metrics: %s", want)
		}
	}
	if n := strings.Count(text, "\nkeystile_http_requests_total{"); n > 8 {
		t.Errorf("%d series of requests", n)
	}
}

func TestSweepCountsWhatItRemoves(t *testing.T) {
	t.Parallel()
	f, err := folder.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := program{storage: Bolt()}.openStore(t.Context(), &config.Config{}, f)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	now := time.Now()
	err = h.store.Issue(t.Context(), driver.Token{Key: handle.KeyOf("a"), ExpiresAt: now},
		driver.Token{Key: handle.KeyOf("b"), ExpiresAt: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.Sweep(t.Context(), now); err != nil || h.swept.Load() != 1 {
		t.Errorf("%d records swept, %v; want 1", h.swept.Load(), err)
	}
}

func TestRouteIsKnownByItsPattern(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.NotFoundHandler())
	defer upstream.Close()
	s := start(t, t.TempDir(), "--gateway-products", "svc="+upstream.URL)
	for path, route := range map[string]string{
		"/svc/things/7": "/svc/", "/svc": "/svc/",
		"/": "/", "/healthz/live": "/healthz/live", "/demo": "/demo", "/oauth/signin": "/oauth/signin",
		"/oauth/jwks":                       "/oauth/jwks",
		"/oauth/userinfo.php":               "/oauth/userinfo.php",
		"/.well-known/openid-configuration": "/.well-known/openid-configuration",
		"/oauth/x":                          "other", "/oauth/token/x": "other", "//oauth/token": "other", "/demo/x": "other",
	} {
		id := strings.NewReplacer("/", "_").Replace(path)
		get(t, http.DefaultClient, s.base+path, "X-Request-Id", id)
		want := " path=" + route + " .* request_id=" + regexp.QuoteMeta(id) + "\n"
		s.log.Find(t, s.ended, want)
	}
}

func TestIDGoesThroughAllThatIsLogged(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	form := url.Values{"username": {"admin"}, "password": {"not the password"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/oauth/signin",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Request-Id", "of-mine")
	if resp, _ := do(t, http.DefaultClient, req); resp.Header.Get("X-Request-Id") != "of-mine" {
		t.Errorf("answered %v", resp.Header)
	}
	s.log.Find(t, s.ended, `msg="sign-in refused" .*request_id=of-mine`)
	s.log.Find(t, s.ended, `msg=request .*status=401 .*request_id=of-mine`)
}

func TestRequestsNeedNotBeLogged(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--log-requests=false")
	resp, _ := get(t, http.DefaultClient, s.base+"/")
	if s.stop(); strings.Contains(s.log.String(), "msg=request") || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("logged %s", s.log)
	}
}

func TestAdminListenerForAllIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for address, warned := range map[string]bool{
		"": false, "127.0.0.1:1": false, "[::1]:1": false, "localhost:1": false, ":1": true, "0.0.0.0:1": true,
		"10.0.0.1:1": true, "metrics:1": true,
	} {
		var out strings.Builder
		advise(slog.New(slog.NewTextHandler(&out, nil)), &config.Config{Listen: "127.0.0.1:1", AdminListen: address},
			"https://id.example.com")
		if strings.Contains(out.String(), "admin listener") != warned {
			t.Errorf("%q: warned %q", address, out.String())
		}
	}
}

func TestAdminPortThatIsTakenIsExplained(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	wantFailure(t, 1, "or listen elsewhere with --admin-listen", "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0",
		"--admin-listen", s.address)
}

// The page beside the program has the list that config --reference prints.
func TestConfigurationPageHasTheReference(t *testing.T) {
	t.Parallel()
	code, list, _ := command(t, "", "config", "--reference")
	text, err := os.ReadFile("../CONFIGURATION.md")
	if code != 0 || err != nil || !strings.Contains(list, "  - admin.listen (host:port): ") {
		t.Fatal(code, list, err)
	}
	if string(text) != config.Page() || !strings.HasSuffix(string(text), "\n"+list) {
		t.Error("CONFIGURATION.md is not what the keys of package config say: go generate ./cmd/keystile/command")
	}
}

// Programs have the same as JSON.
func TestReferenceIsJSONForPrograms(t *testing.T) {
	t.Parallel()
	code, out, _ := command(t, "", "config", "--reference", "--json")
	var keys []struct{ Key, Type, Default, Protocol, Help, Environment, Flag string }
	if err := json.Unmarshal([]byte(out), &keys); code != 0 || err != nil {
		t.Fatal(code, out, err)
	}
	for _, k := range keys {
		if k.Key == "lifetimes.code" {
			if k.Type != "duration" || k.Default != "5m" || k.Protocol != "8" || k.Environment != "KEYSTILE_LIFETIMES_CODE" ||
				k.Flag != "--lifetimes-code" || k.Help == "" {
				t.Errorf("%+v", k)
			}
			return
		}
	}
	t.Errorf("no lifetimes.code in %s", out)
}
