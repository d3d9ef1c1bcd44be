package netguard

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestURLForRegistration(t *testing.T) {
	for _, good := range []string{
		"https://api.example.com", "http://api.example.com/v1/", "https://api.example.com:8443/v1?tenant=7&a=%20",
		"HTTPS://API.example.com/a%2Fb", "http://127.0.0.1:3000", "http://[fd00::1]:80/x", "http://2130706433/",
		"https://my_service/x",
		"https://example.com./", "https://xn--bcher-kva.example/ä",
	} {
		u, err := CheckURL(good)
		if err != nil || u == nil || u.Host == "" {
			t.Errorf("CheckURL(%q) = %v, %v, want a URL", good, u, err)
		}
	}
	for _, c := range []struct{ bad, says string }{
		{"", "1 to 2048"},
		{"https://a/" + strings.Repeat("x", 2048), "1 to 2048"},
		{"https://a b/", "blanks"}, {"https://a/\r\nX: y", "blanks"}, {"https://a/\x00", "blanks"}, {`https://a\@b/`, "blanks"}, {"https://a/\x7f", "blanks"},
		{"file:///etc/passwd", "scheme"}, {"gopher://a/", "scheme"}, {"ftp://a/", "scheme"}, {"unix:///a", "scheme"},
		{"//a/b", "scheme"}, {"api.example.com/v1", "scheme"}, {"javascript:alert(1)", "scheme"},
		{"http:a.example/", "host"}, {"https://", "host"}, {"https:///x", "host"}, {"https://:80/", "host"},
		{"https://user:pass@a/", "user or password"}, {"https://@a/", "user or password"},
		{"https://example.com@127.0.0.1/", "user or password"},
		{"https://a/#x", "fragment"}, {"https://a/#", "fragment"},
		{"https://bücher.example/", "ASCII"}, {"http://127。0。0。1/", "ASCII"}, {"http://①②⑦.⓪.⓪.①/", "ASCII"},
		{"http://a..b/", "ASCII"}, {"http://.a/", "ASCII"}, {"http://a;b/", "ASCII"}, {"http://[fe80::1%25lo]/", "ASCII"},
		{"https://" + strings.Repeat("a", 254) + "/", "ASCII"},
		{"https://a:0/", "port"}, {"https://a:65536/", "port"}, {"https://a:/", "port"},
		{"https://a:x/", "cannot be read"}, {"https://a/%zz", "cannot be read"}, {"https://[::1/", "cannot be read"},
		{"https://%41/", "cannot be read"},
	} {
		u, err := CheckURL(c.bad)
		if err == nil || u != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("CheckURL(%.40q) = %v, %v, want an error about: %s", c.bad, u, err, c.says)
		} else if strings.Contains(err.Error(), "pass@") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("CheckURL(%.40q) = %q: it repeats the URL", c.bad, err)
		}
	}
}

func TestRegistrarCanWarnOfAPrivateHost(t *testing.T) {
	g := guard(t, Config{Allow: []string{"10.1.0.0/16", "127.0.0.1:3000", "2130706433:80"}})
	for text, want := range map[string]bool{
		"http://127.0.0.1": true, "https://10.0.0.1/": true, "http://[::1]:8080": true, "http://[::ffff:10.0.0.1]/": true,
		"http://169.254.169.254/latest": true, "http://localhost:8080": true, "http://LOCALHOST./": true,
		"http://a.localhost/":  true,
		"http://2130706433:81": true, "http://0x7f.1": true, "http://0177.0.0.1": true, "http://017700000001/": true,
		"http://127.1/": true, "http://0/": true, "http://127.0.0.1.": true,
		"http://10.1.2.3": false, "http://127.0.0.1:3000/": false, "http://localhost:3000": false, "http://2130706433": false,
		"https://api.example.com": false, "http://8.8.8.8": false, "http://134744072/": false, "http://8.8.2056/": false,
		"http://1.2.3.4.5/": false, "http://0x7f.1.example.com": false, "http://127.0.0.256": false,
		"http://4294967296": false, "http://0b1111111.1": false, "http://0o177.1": false, "http://12_7.1": false,
	} {
		if got := g.LooksPrivate(parsed(t, text)); got != want {
			t.Errorf("LooksPrivate(%s) = %t, want %t", text, got, want)
		}
	}
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range append(append([]string{"https://api.example.com:8443/v1?a=b"}, oddURLs...), "http://0x7f.1/",
		"http://[::1]:80/", "https://a/%2e%2e/") {
		f.Add(seed)
	}
	g := guard(f, Config{})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckURL(raw)
		if err != nil {
			return
		}
		if u.User != nil || u.Fragment != "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("CheckURL(%q) = %+v, want a plain URL", raw, u)
		}
		again, err := CheckURL(u.String())
		if err != nil || again.Host != u.Host {
			t.Errorf("CheckURL(%q) = %v, %v, which CheckURL(%q) gave", u.String(), again, err, raw)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && private(plain(a)) != "" && !g.LooksPrivate(u) {
			t.Errorf("LooksPrivate(%q) = false, want true", raw)
		}
	})
}

func TestURLOfAServerIsKnownInEverySpelling(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://id.example.com", "https://ID.example.com.:443/x?y", true},
		{"https://id.example.com", "http://id.example.com", true},
		{"https://id.example.com", "https://id.example.com:8443", false},
		{"https://id.example.com:8443", "http://id.example.com:8443", true},
		{"https://id.example.com", "https://id.example.org", false},
		{"http://127.0.0.1:8080", "http://0x7f.1:8080", true},
		{"http://127.0.0.1:8080", "http://localhost:8080", true},
		{"http://127.0.0.1:8080", "http://[::ffff:7f00:1]:8080", true},
		{"http://127.0.0.1:8080", "http://127.0.0.2:8080", false},
		{"http://[::1]:8080", "http://[0:0::1]:8080", true},
		{"http://[::1]:8080", "http://[::1]:8081", false},
		{"http://127.0.0.1:8080", "http://127.0.0.1:08080", true},
		{"https://id.example.com", "https://id.example.com:0443", true},
		{"http://127.0.0.1:8080", "http://0.0.0.0:8080", true},
		{"http://127.0.0.1:8080", "http://0:8080", true},
		{"http://[::1]:8080", "http://[::]:8080", true},
		{"http://127.0.0.1:8080", "http://0.0.0.0:8081", false},
	} {
		if got := SameServer(parsed(t, c.a), parsed(t, c.b)); got != c.same {
			t.Errorf("SameServer(%s, %s) = %t, want %t", c.a, c.b, got, c.same)
		}
	}
}

func TestInternalURLIsNamedInTheRefusal(t *testing.T) {
	for raw, want := range map[string]bool{
		"http://127.0.0.1/": true, "http://localhost:1/": true, "http://a.localhost/": true, "https://[::1]/": true,
		"https://10.0.0.1/":         true,
		"https://192.168.1.1:8443/": true, "https://169.254.169.254/": true, "http://0x7f000001/": true,
		"http://2130706433/": true, "http://127.1/": true,
		"https://[::ffff:10.0.0.1]/": true, "https://[fd00::1]/": true, "https://[64:ff9b::7f00:1]/": true,
		"https://db/": true, "https://printer.local/": true,
		"https://Vault.Internal./": true, "https://nas.home.arpa/": true,
		"https://example.com/": false, "https://8.8.8.8/": false, "https://[2606:4700:4700::1111]/": false,
		"https://internal.example.com/": false,
	} {
		u, err := CheckURL(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if got := Inside(u); got != want {
			t.Errorf("Inside(%s) = %t", raw, got)
		}
	}
}
