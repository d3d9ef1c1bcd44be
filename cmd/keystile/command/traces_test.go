package command

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A trace, and the span of a browser in it.
const (
	browserTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	browserSpan  = "00f067aa0ba902b7"
	traceparent  = "00-" + browserTrace + "-" + browserSpan + "-01"
)

// marker is in everything that a client can send. No span may have it.
const marker = "M4RKED-s3cr3t"

// tracing is a service whose traces go to a collector, with a product, a tool by HTTP and one by MCP behind it.
type tracing struct {
	*service
	collector *collector
	upstream  *httptest.Server
	asked     map[string]http.Header // by what the upstream was asked for
	admin     string
}

func startTracing(t *testing.T, args ...string) *tracing {
	t.Helper()
	w := &tracing{collector: newCollector(t), asked: map[string]http.Header{}}
	w.upstream = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[1]
		if rw.Header().Set("Content-Type", "application/json"); name == "mcp" {
			name += serveTool(rw, r)
		} else {
			fmt.Fprint(rw, `{"ok":true}`)
		}
		w.asked[name] = r.Header
	}))
	t.Cleanup(w.upstream.Close)
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	text := "otel:\n  endpoint: " + w.collector.URL + "\n  headers: x-api-key=collector%2Ckey\n  service_name: id\n" +
		"gateway:\n  products:\n    - {name: svc, upstream: '" + w.upstream.URL + "/svc'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.service = start(t, t.TempDir(),
		append([]string{"--config", file, "--upstreams-allow-private", "127.0.0.0/8", "--admin-listen", "127.0.0.1:0"},
			args...)...)
	w.admin = "http://" + w.out.Find(t, w.ended, `Admin listener +(\S+)`)
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "capability", "register", "pets", "--upstream", w.upstream.URL+"/rest", "--openapi", document, "--auth-type",
		"bearer", "--auth-secret", marker, "--data", w.data)
	must(t, "capability", "register", "byname", "--upstream", w.upstream.URL+"/mcp", "--data", w.data)
	return w
}

// serveTool is an upstream that speaks MCP, with one tool. It returns what it was asked.
func serveTool(w http.ResponseWriter, r *http.Request) (method string) {
	var body bytes.Buffer
	body.ReadFrom(r.Body)
	if found := regexp.MustCompile(`"method":"([^"]+)"`).FindStringSubmatch(body.String()); found != nil {
		method = found[1]
	}
	id := "null"
	if found := regexp.MustCompile(`"id":([^,}]+)`).FindStringSubmatch(body.String()); found != nil {
		id = found[1]
	}
	switch method {
	case "initialize":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}}`, id)
	case "tools/list":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","description":"Echoes","inputSchema":{"type":"object"}}]}}`, id)
	case "tools/call":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, id)
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
	}
	return "#" + method
}

// visit is one request within the browser's trace.
func (w *tracing) visit(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Traceparent": {traceparent}, "Tracestate": {"vendor=" + marker}, "Baggage": {"user=" + marker},
		"User-Agent": {marker}, "X-Request-Id": {marker}}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return do(t, client, r)
}

// walk does what a browser and an agent do, in one trace, and returns the secrets that were about.
func (w *tracing) walk(t *testing.T) (secrets []string) {
	t.Helper()
	cookie, app := cookieOf(t, w.service), firstRunOf(t, w.data).App
	query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI},
		"scope": {"openid tools"}, "state": {marker}}
	resp, body := w.visit(t, "GET", "/oauth/authorize?"+query.Encode(), "", "Cookie", cookie.Name+"="+cookie.Value)
	to, err := resp.Location()
	if err != nil || to.Query().Get("code") == "" {
		t.Fatalf("authorize = %d %s", resp.StatusCode, body)
	}
	code := to.Query().Get("code")
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {app.RedirectURI},
		"client_id": {app.ClientID}, "client_secret": {app.ClientSecret}, "x": {marker}}
	resp, body = w.visit(t, "POST", "/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	found := regexp.MustCompile(`"access_token":"([^"]+)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("token = %d %s", resp.StatusCode, body)
	}
	bearer := "Bearer " + found[1]
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/oauth/userinfo?access=" + marker, "", `"sub"`},
		{"POST", "/api/mcp", `{"jsonrpc":"2.0","id":"` + marker + `","method":"tools/call","params":{"name":"pets__getPet","arguments":{"id":7}}}`, `{"ok":true}`},
		{"POST", "/api/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"byname__echo","arguments":{"text":"` + marker + `"}}}`, `done`},
		{"POST", "/api/mcp", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + marker + `"}}`, `error`},
		{"GET", "/svc/" + marker + "?key=" + marker, "", `{"ok":true}`},
		{"GET", "/api/v1/verify?product=svc", "", `"client_id"`},
		{"GET", "/nowhere/" + marker, "", ``},
		{marker, "/oauth/token", "", ``},
	} {
		if resp, body := w.visit(t, c.method, c.path, c.body, "Authorization", bearer, "Content-Type", "application/json",
			"Cookie", "c="+marker); !strings.Contains(body, c.want) {
			t.Errorf("%s %s = %d %s", c.method, c.path, resp.StatusCode, body)
		}
	}
	in := url.Values{"username": {"somebody@example.com"}, "password": {marker}}
	w.visit(t, "POST", "/oauth/signin", in.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	return []string{code, found[1], cookie.Value, app.ClientSecret, firstRunOf(t, w.data).Admin.Password,
		firstRunOf(t, w.data).Admin.Username, "somebody", marker, app.RedirectURI}
}

func TestTraceIsWholeFromTheBrowserToTheUpstreamOfATool(t *testing.T) {
	t.Parallel()
	w := startTracing(t, "--otel-sample", "1")
	secrets := w.walk(t)
	_, metrics := get(t, http.DefaultClient, w.admin+"/metrics", "Accept", "application/openmetrics-text; version=1.0.0")
	w.stop()
	c := w.collector
	if c.path != "/v1/traces" || c.header.Get("X-Api-Key") != "collector,key" || c.service["service.name"] != "id" ||
		c.service["service.version"] != versionOf() || c.service["service.instance.id"] == "" {
		t.Errorf("asked at %s with %v for %v", c.path, c.header, c.service)
	}

	below := func(child, parent received) {
		t.Helper()
		if child.parent != parent.id {
			t.Errorf("%q is not below %q", child.name, parent.name)
		}
	}
	for _, path := range []string{"GET /oauth/authorize", "POST /oauth/token", "GET /oauth/userinfo", "GET /svc/",
		"GET /api/v1/verify"} {
		s := c.find(t, browserTrace, path, "", "")
		if s.parent != browserSpan || s.kind != tracepb.Span_SPAN_KIND_SERVER ||
			s.attributes["keystile.client_id"] != firstRunOf(t, w.data).App.ClientID {
			t.Errorf("%s: %+v", path, s)
		}
	}
	below(c.find(t, browserTrace, "Exchange", "db.system.name", "bolt"),
		c.find(t, browserTrace, "POST /oauth/token", "", ""))
	below(c.find(t, browserTrace, "Issue", "db.system.name", "bolt"),
		c.find(t, browserTrace, "GET /oauth/authorize", "", ""))
	for sent, from := range map[string]string{"rest": "tools/call pets__getPet",
		"mcp#tools/call": "tools/call byname__echo", "svc": "GET /svc/"} {
		caller, header := c.find(t, browserTrace, from, "", ""), w.asked[sent]
		i := slices.IndexFunc(c.all(), func(s received) bool {
			return s.parent == caller.id && s.kind == tracepb.Span_SPAN_KIND_CLIENT &&
				s.attributes["server.address"] == "127.0.0.1"
		})
		if i < 0 || header.Get("Traceparent") != "00-"+browserTrace+"-"+c.all()[i].id+"-01" ||
			header.Get("Tracestate") != "vendor="+marker {
			t.Errorf("%s: the upstream was sent %v", from, header)
		}
		if tool, is := strings.CutPrefix(from, "tools/call "); is {
			j := slices.IndexFunc(c.all(), func(s received) bool { return s.id == caller.parent })
			if j < 0 || c.all()[j].name != "POST /api/mcp" || c.all()[j].parent != browserSpan ||
				caller.attributes["gen_ai.tool.name"] != tool || caller.attributes["mcp.method.name"] != "tools/call" {
				t.Errorf("%s is not below its request: %+v", from, caller)
			}
		}
	}
	ids := map[string]bool{browserSpan: true}
	for _, s := range c.all() {
		ids[s.id] = true
	}
	for _, s := range c.all() {
		if s.trace == browserTrace && !ids[s.parent] {
			t.Errorf("%q has a parent that nobody has sent", s.name)
		}
	}

	for _, secret := range secrets {
		if bytes.Contains(c.bytes, []byte(secret)) {
			t.Errorf("%q was sent to the collector", secret)
		}
	}
	if !regexp.MustCompile(`keystile_http_request_duration_seconds_bucket\{route="/oauth/token",le="[^"]+"\} \d+ # \{trace_id="` + browserTrace + `"\}`).MatchString(metrics) {
		t.Errorf("no exemplar of the trace is in the metrics: %s", metrics)
	}
	if !regexp.MustCompile(`msg=request method=POST path=/oauth/token .*trace_id=` + browserTrace).MatchString(w.log.String()) {
		t.Error("the log does not name the trace")
	}
}

func TestStrangersFlagDoesNotDecideWhatIsSampledButAFollowedProxysDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		parent string
		want   bool
	}{
		{[]string{"--otel-sample", "0"}, traceparent, false},
		{[]string{"--otel-sample", "0", "--trusted-proxies", "127.0.0.1"}, traceparent, false},
		{[]string{"--otel-sample", "1"}, strings.TrimSuffix(traceparent, "1") + "0", true},
		{[]string{"--otel-sample", "0", "--trusted-proxies", "127.0.0.1", "--otel-follow", "true"}, traceparent, true},
		{[]string{"--otel-sample", "1", "--trusted-proxies", "127.0.0.1", "--otel-follow", "true"},
			strings.TrimSuffix(traceparent, "1") + "0", false},
		{[]string{"--otel-sample", "0", "--trusted-proxies", "192.0.2.1", "--otel-follow", "true"}, traceparent, false},
	} {
		w := newCollector(t)
		s := start(t, t.TempDir(), append([]string{"--otel-endpoint", w.URL}, c.args...)...)
		get(t, http.DefaultClient, s.base+"/oauth/jwks", "Traceparent", c.parent)
		s.stop()
		sampled := slices.ContainsFunc(w.all(), func(r received) bool { return r.trace == browserTrace })
		if sampled != c.want {
			t.Errorf("%q with %s: sampled %t, want %t", c.args, c.parent, sampled, c.want)
		}
	}
}

func TestCollectorThatFailsHoldsUpNothingAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else nobody hears that the client leaves
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	refusing := newCollector(t)
	refusing.status = http.StatusInternalServerError
	for name, endpoint := range map[string]string{"away": "http://127.0.0.1:1", "slow": silent.URL, "5xx": refusing.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, t.TempDir(), "--otel-endpoint", endpoint, "--otel-sample", "1", "--limits-per-ip", "100000")
			began := time.Now()
			for range 3_000 { // more than wait for the collector
				if resp, _ := get(t, http.DefaultClient, s.base+"/oauth/jwks"); resp.StatusCode != 200 {
					t.Fatalf("answered %d", resp.StatusCode)
				}
			}
			served := time.Since(began)
			if served > 15*time.Second { // one batch is tried for 20
				t.Errorf("3,000 requests took %v", served)
			}
			stopping := time.Now()
			if code := s.stop(); code != 0 || time.Since(stopping) > 12*time.Second {
				t.Errorf("it ended with %d after %v", code, time.Since(stopping))
			}
			if n := strings.Count(s.log.String(), "traces are not sent"); n != 1 {
				t.Errorf("it is logged %d times", n)
			}
		})
	}
}

func TestSettingOfTracesThatDoesNothingIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"otel: {endpoint: 'ftp://h'}":                            "http:// or https:// URL",
		"otel: {endpoint: 'http://u:p@h'}":                       "put keys into otel.headers",
		"otel: {endpoint: 'http://h/v1/traces'}":                 "without /v1/traces",
		"otel: {headers: 'a=b'}":                                 "otel.endpoint: it is empty",
		"otel: {endpoint: 'http://h', headers: 's3cr3t'}":        "name=value pairs",
		"otel: {endpoint: 'http://h', headers: 'a b=c'}":         "name=value pairs",
		"otel: {endpoint: 'http://h', headers: \"a=%0ds3cr3t\"}": "name=value pairs",
		"otel: {endpoint: 'http://h', sample: '1.1'}":            "a number from 0 to 1",
		"otel: {endpoint: 'http://h', sample: 'NaN'}":            "a number from 0 to 1",
		"otel: {endpoint: 'http://h', follow: 'true'}":           "name the proxies",
	} {
		file := filepath.Join(t.TempDir(), "keystile.yaml")
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := command(t, "", "config", "--config", file); code != 2 || !strings.Contains(errs, want) ||
			strings.Contains(out+errs, "s3cr3t") {
			t.Errorf("%s = %d, %s", text, code, errs)
		}
	}
}
