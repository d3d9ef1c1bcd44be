package apps

import (
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/internal/redirect"
)

var redirectApp = App{Domains: []string{
	"app.example.com", "api.example.com:8443", "localhost", "127.0.0.1", "[::1]", "xn--fsqu00a.xn--0zwm56d", "192.0.2.7",
}}

type redirectCase struct {
	ok         bool
	class, uri string
}

func redirectCases(t testing.TB) (cases []redirectCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/redirects.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		uri, err := strconv.Unquote(f[2])
		if len(f) != 3 || err != nil {
			t.Fatalf("testdata/redirects.txt: %q: %v", line, err)
		}
		cases = append(cases, redirectCase{f[0] == "yes", f[1], uri})
	}
	return cases
}

func TestRedirectsAreCheckedAsListed(t *testing.T) {
	accepted, refused := 0, 0
	for _, c := range redirectCases(t) {
		err := redirectApp.AllowsRedirect(c.uri)
		if (err == nil) != c.ok {
			t.Errorf("%s: AllowsRedirect(%q) = %v, want accepted %t", c.class, c.uri, err, c.ok)
		}
		if c.ok {
			accepted++
		} else {
			refused++
		}
	}
	if accepted < 20 || refused < 60 {
		t.Errorf("%d accepted and %d refused cases, want at least 20 and 60", accepted, refused)
	}
}

func TestRedirectHas2048BytesAtMost(t *testing.T) {
	uri := "https://app.example.com/"
	uri += strings.Repeat("x", redirect.MaxLength-len(uri))
	if err := redirectApp.AllowsRedirect(uri); err != nil {
		t.Errorf("AllowsRedirect of %d bytes = %v, want accepted", len(uri), err)
	}
	if redirectApp.AllowsRedirect(uri+"x") == nil {
		t.Errorf("AllowsRedirect of %d bytes accepted", len(uri)+1)
	}
}

func TestHTTPPassesOnlyWhereAllowed(t *testing.T) {
	app := App{Domains: []string{"intranet.example"}}
	if app.AllowsRedirect("http://intranet.example/cb") == nil {
		t.Error("http accepted without allow_http_redirect")
	}
	app.AllowHTTPRedirect = true
	if err := app.AllowsRedirect("http://intranet.example/cb"); err != nil {
		t.Errorf("http with allow_http_redirect = %v, want accepted", err)
	}
}

func TestLoopbackMustBeRegistered(t *testing.T) {
	app := App{Domains: []string{"app.example.com"}}
	for _, uri := range []string{"http://localhost/cb", "http://127.0.0.1:8080/cb", "http://[::1]/cb"} {
		if app.AllowsRedirect(uri) == nil {
			t.Errorf("%s accepted without being registered", uri)
		}
	}
}

func TestExactRedirectURIsWinWhereListed(t *testing.T) {
	app := App{Domains: []string{"app.example.com"}, RedirectURIs: []string{"https://app.example.com/cb"}}
	if err := app.AllowsRedirect("https://app.example.com/cb"); err != nil {
		t.Errorf("the listed one = %v, want accepted", err)
	}
	for _, uri := range []string{"https://app.example.com/cb?x=1", "https://app.example.com/CB",
		"https://app.example.com/other"} {
		if app.AllowsRedirect(uri) == nil {
			t.Errorf("%s accepted beside the listed one", uri)
		}
	}
}

func TestDomainsAreNormalized(t *testing.T) {
	for typed, want := range map[string]string{
		"App.Example.COM":              "app.example.com",
		" app.example.com ":            "app.example.com",
		"https://app.example.com/cb":   "app.example.com",
		"http://localhost:3000":        "localhost:3000",
		"app.example.com:8443":         "app.example.com:8443",
		"::1":                          "[::1]",
		"[::1]:8080":                   "[::1]:8080",
		"https://xn--fsqu00a.example/": "xn--fsqu00a.example",
		"127.0.0.1":                    "127.0.0.1",
		"https://app.example.com:443/": "app.example.com",
		"http://app.example.com:80":    "app.example.com",
		"http://app.example.com:443":   "app.example.com:443",
		"app.example.com:443":          "app.example.com:443", // nothing says whose port it is
		"例子.测试":                        "xn--fsqu00a.xn--0zwm56d",
		"https://例子。测试:8443/cb":        "xn--fsqu00a.xn--0zwm56d:8443",
		"Bücher.example":               "xn--bcher-kva.example",
		"ａｐｐ．example.com":              "app.example.com",
	} {
		if got, err := NormalizeDomain(typed); got != want || err != nil {
			t.Errorf("NormalizeDomain(%q) = %q, %v, want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", "*.example.com", "*", "-例.测试", "a\u202eb.example", "例子.测试:0", "例子..测试", "::例",
		"[例]", "app.example.com.", "a b", "https://", "user@app.example.com", "app.example.com/path", "127.1",
		"app.example.com:0", "https://a.example@b.example/"} {
		if got, err := NormalizeDomain(typed); err == nil {
			t.Errorf("NormalizeDomain(%q) = %q, want an error", typed, got)
		}
	}
}

func TestOriginOfARedirect(t *testing.T) {
	for uri, want := range map[string]string{
		"https://App.example.com/cb?x=1": "https://app.example.com",
		"http://localhost:3000":          "http://localhost:3000",
		"http://[::1]:80/":               "http://[::1]:80",
		"nonsense":                       "",
	} {
		if got := RedirectOrigin(uri); got != want {
			t.Errorf("RedirectOrigin(%q) = %q, want %q", uri, got, want)
		}
	}
}

// A redirect_uri that is accepted must be read the same way by every reader: net/url, and the way browsers
// find a host (WHATWG URL), written here a second time.
func FuzzRedirect(f *testing.F) {
	for _, c := range redirectCases(f) {
		f.Add(c.uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if redirectApp.AllowsRedirect(uri) != nil {
			return
		}
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatalf("%q accepted, but net/url says %v", uri, err)
		}
		browser := browserHost(uri)
		if browser != strings.ToLower(u.Hostname()) {
			t.Errorf("%q accepted, but a browser goes to %q and net/url to %q", uri, browser, u.Hostname())
		}
		host := browser
		if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
			host = "[" + host + "]"
		}
		if !slices.Contains(redirectApp.Domains, host) && !slices.Contains(redirectApp.Domains, host+":"+u.Port()) {
			t.Errorf("%q accepted, but its host %q is not registered", uri, host)
		}
		if strings.ContainsAny(uri, "\r\n#\\") || u.User != nil {
			t.Errorf("%q accepted with a character that splits headers or hosts", uri)
		}
	})
}

var notSlash = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)`)

// browserHost finds the host as a browser does: it drops tabs, newlines and outer spaces,
// takes a backslash for a slash, skips any number of slashes, and takes what stands
// behind the last @.
func browserHost(uri string) string {
	uri = strings.Trim(uri, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n"+
		"\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	uri = strings.ToLower(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(uri))
	m := notSlash.FindStringSubmatch(uri)
	if m == nil {
		return ""
	}
	host := m[1][strings.LastIndexByte(m[1], '@')+1:]
	if strings.HasPrefix(host, "[") {
		host, _, _ = strings.Cut(host[1:], "]")
		return host
	}
	host, _, _ = strings.Cut(host, ":")
	if unescaped, err := url.PathUnescape(host); err == nil {
		host = unescaped
	}
	return host
}

// RFC 3986 6.2.3.
func TestDefaultPortIsNoPort(t *testing.T) {
	app := App{Domains: []string{"a.example:443", "b.example:80", "c.example"}, AllowHTTPRedirect: true}
	for uri, want := range map[string]bool{
		"https://a.example/cb": true, "https://a.example:443/cb": true, "http://a.example/cb": false,
		"http://a.example:443/cb": true,
		"https://a.example:80/cb": false, "http://b.example/cb": true, "http://b.example:80/cb": true,
		"https://b.example/cb": false,
		"https://c.example/cb": true, "https://c.example:443/cb": true, "https://c.example:8443/cb": true,
	} {
		if err := app.AllowsRedirect(uri); (err == nil) != want {
			t.Errorf("AllowsRedirect(%q) = %v, want accepted %t", uri, err, want)
		}
	}
}

// RFC 6761 6.3.
func TestRedirectBelowLocalhostIsThisDevice(t *testing.T) {
	app := App{Domains: []string{"shop.localhost", "notlocalhost", "localhost.example"}}
	for uri, want := range map[string]bool{
		"http://shop.localhost:3000/cb": true, "https://shop.localhost/cb": true, "http://other.localhost/cb": false,
		"http://notlocalhost/cb": false, "http://localhost.example/cb": false,
	} {
		if err := app.AllowsRedirect(uri); (err == nil) != want {
			t.Errorf("AllowsRedirect(%q) = %v, want accepted %t", uri, err, want)
		}
	}
}

// RFC 8252 7.1, OAuth 2.1 8.4.3.
func TestPublicApplicationIsSentBackToTheSchemeThatItHasRegistered(t *testing.T) {
	const own = "com.example.phone:/callback"
	phone := App{Name: "Phone", Public: true, RedirectURIs: []string{own, "cursor://anysphere.cursor-mcp/oauth/callback",
		"https://app.example.com/cb"}, Domains: []string{"app.example.com"}}
	phone, err := phone.Complete(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for uri, good := range map[string]bool{
		own: true, "cursor://anysphere.cursor-mcp/oauth/callback": true, "https://app.example.com/cb": true, own + "/": false,
		own + "?a=1": false, "com.example.phone://callback": false,
		"COM.example.phone:/callback": false, "com.example.phone2:/callback": false, "https://app.example.com/other": false,
		"": false,
	} {
		if err := phone.AllowsRedirect(uri); (err == nil) != good {
			t.Errorf("AllowsRedirect(%q) = %v, want it allowed: %t", uri, err, good)
		}
	}
	for _, uri := range []string{
		"javascript:alert(1)", "javascript://com.example/%0aalert(1)", "data:text/html,x", "vbscript:/x", "file:///x",
		"blob:/x", "about:/x", "intent://x/y", "phone:/x", "httpx.:/x", "mailto:/x",
		"com.example.phone:x", "com.example.phone:///x", "com.example.phone:/x#y", "com.example.phone:/a b",
		"Com.example.phone:/x", "com.example+x:/y", "-com.example:/x", "http.:/x", "ws://x/y",
	} {
		if _, err := (App{Name: "Phone", Public: true, RedirectURIs: []string{uri}}).Complete(time.Now()); err == nil {
			t.Errorf("an application registers %q", uri)
		}
	}
	if _, err := (App{Name: "Server", RedirectURIs: []string{own}}).Complete(time.Now()); err == nil {
		t.Error("an application with a secret registers a private-use scheme")
	}
	old := App{Name: "Server", RedirectURIs: []string{own}, Secrets: []AppSecret{{}}}
	if old.AllowsRedirect(own) == nil {
		t.Error("an application with a secret is sent back to a private-use scheme")
	}
}
