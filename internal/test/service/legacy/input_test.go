package legacy_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallbackNeverRedirectsToAnotherHost(t *testing.T) {
	h := newFixture(t)
	bad := []string{
		"https://evil.example/cb", "https://app.example.com.evil.example/", "https://evil.example/app.example.com",
		"https://app.example.com@evil.example/",
		"https://evil.example#app.example.com", "https://evil.example\\app.example.com", "//evil.example/", "/cb",
		"javascript:alert(1)", "data:text/html,x",
		"https://app.example.com\t.evil.example/", "https://app.example.com%2eevil.example/", "http://app.example.com/",
		"HTTPS://APP.EXAMPLE.COM.:443/",
		"https://app.example.com/\r\nLocation: https://evil.example/", "https://app.example.com/#f",
		"https://sub.app.example.com/", redirect + strings.Repeat("x", 2048),
	}
	for _, act := range []string{"login", "check_sso"} {
		for _, mode := range []string{"", "navigate"} {
			for _, uri := range bad {
				r := request("GET", "/connect.php", form("act", act, "appid", "1000", "appkey", appKey, "redirect_uri", uri))
				r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
				r.Header.Set("Sec-Fetch-Mode", mode)
				w := h.serve(r)
				if w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "legacy=") || w.Code == 302 {
					t.Errorf("%s to %q = %d, Location %q: %s", act, uri, w.Code, w.Header().Get("Location"), w.Body)
				}
			}
		}
	}
}

func TestStateIsReturnedAsItWas(t *testing.T) {
	h := newFixture(t)
	for _, state := range []string{"x", "a b&c=d#e", "微信", "'\"<>", strings.Repeat("s", 2048)} {
		to := must(url.Parse(h.connect("login", "redirect_uri", redirect, "state", state).wants(t, "login",
			1).text("url")))(t)
		if got := to.Query().Get("state"); got != state {
			t.Errorf("act=login passes state %q on as %q", state, got)
		}
		sso := request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "redirect_uri", redirect+"?own=1",
			"state", state))
		to = must(url.Parse(h.serve(sso).Header().Get("Location")))(t)
		if got := to.Query().Get("state"); got != state || to.Query().Get("own") != "1" {
			t.Errorf("state = %q, want %q beside the application's own query: %s", got, state, to)
		}
	}
	h.connect("login", "redirect_uri", redirect, "state", strings.Repeat("s", 2049)).refuses(t, "a longer state", 101)
}

func TestEmptyStateIsNotSentBack(t *testing.T) {
	h := newFixture(t)
	for own, want := range map[string]string{"": "?sso=0", "?": "?sso=0", "?state=own": "?state=own&sso=0",
		"?state=own&": "?state=own&sso=0"} {
		w := h.serve(request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "redirect_uri", redirect+own,
			"state", "")))
		if to := w.Header().Get("Location"); to != redirect+want {
			t.Errorf("Location = %q, want %q", to, redirect+want)
		}
	}
}

// Inputs that PHP, Go and proxies read differently are refused.
func TestParametersAreNotPolluted(t *testing.T) {
	h := newFixture(t)
	good := form("act", "login", "appid", "1000", "appkey", appKey, "redirect_uri", redirect).Encode()
	for _, more := range []string{
		"&appid=2000", "&appkey=x", "&redirect_uri=https%3A%2F%2Fevil.example%2F", "&act=login", "&x=1&x=2",
		"&state=a&state=a", ";x=1", "&state=%ff", "&state=%00", "&%zz",
	} {
		h.call(httptest.NewRequest("GET", issuer+"/connect.php?"+good+more, nil)).refuses(t, more, 101)
	}
	h.call(httptest.NewRequest("GET", issuer+"/check_token?token=x&token=x", nil)).refuses(t, "two tokens", 101)
	h.call(httptest.NewRequest("GET", issuer+"/connect?act=check_sso&appid=1000&appid=1000", nil)).refuses(t,
		"two applications", 101)
	r := httptest.NewRequest("POST", issuer+"/connect.php?"+good, strings.NewReader("appid=1000"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	h.call(r).refuses(t, "a name in the query and in the body", 101)
	r = httptest.NewRequest("POST", issuer+"/connect.php", strings.NewReader(good))
	r.Header.Set("Content-Type", "text/plain") // what a form of another site may send without leave
	h.call(r).refuses(t, "a form that does not say so", 101)
	get := httptest.NewRequest("GET", issuer+"/connect.php?"+good,
		strings.NewReader("redirect_uri=https%3A%2F%2Fevil.example%2F"))
	h.call(get).wants(t, "a GET with a body, which is not read", 1)
}

func TestInputThatIsTooLongIsNotRead(t *testing.T) {
	h := newFixture(t)
	r := httptest.NewRequest("POST", issuer+"/connect.php?act=login",
		strings.NewReader("state="+strings.Repeat("x", 64<<10)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if a := h.call(r); a.status != 413 || a.number("code") != -1 || a.number("errcode") != 101 {
		t.Errorf("a long body = %d %s, want 413 with errcode 101", a.status, a.raw)
	}
	h.call(httptest.NewRequest("GET", issuer+"/connect.php?act=check_sso&appid=1000&x="+strings.Repeat("x", 64<<10),
		nil)).refuses(t, "a long query", 101)
	cut := httptest.NewRequest("POST", issuer+"/connect.php", errReader{})
	cut.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	cut.ContentLength = 10
	h.call(cut).refuses(t, "a body that breaks off", 101)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// Nobody makes a sign-in of the old kind by hand, or of another one.
func TestSignInIsGoodForWhatItWasBegunFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		begun := must(url.Parse(h.connect("login", "redirect_uri", redirect, "state", "s").wants(t, "login",
			1).text("url")))(t)
		open := func(change func(url.Values)) *httptest.ResponseRecorder {
			v := begun.Query()
			change(v)
			r := httptest.NewRequest("GET", issuer+"/oauth/authorize?"+v.Encode(), nil)
			r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
			return h.serve(r)
		}
		for what, change := range map[string]func(url.Values){
			"another redirect_uri": func(v url.Values) { v.Set("redirect_uri", redirect+"2") },
			"another state":        func(v url.Values) { v.Set("state", "t") },
			"no state":             func(v url.Values) { v.Del("state") },
			"another type":         func(v url.Values) { v.Set("login_type", "wx") },
			"another application":  func(v url.Values) { v.Set("client_id", h.other.ID) },
			"a made-up ticket":     func(v url.Values) { v.Set("legacy", "1") },
			"a changed ticket":     func(v url.Values) { v.Set("legacy", "B"+v.Get("legacy")[1:]) },
		} {
			if w := open(change); w.Code != 400 || w.Header().Get("Location") != "" {
				t.Errorf("%s: authorize = %d, Location %q, want 400", what, w.Code, w.Header().Get("Location"))
			}
		}
		same := func(url.Values) {}
		time.Sleep(10*time.Minute - 1)
		if w := open(same); w.Code != 302 {
			t.Errorf("authorize within ten minutes = %d, want 302", w.Code)
		}
		time.Sleep(time.Nanosecond)
		if w := open(same); w.Code != 400 {
			t.Errorf("authorize after ten minutes = %d, want 400", w.Code)
		}
	})
}

// For every input the old endpoints answer JSON or a redirect to a registered host, and never a
// success without a proof.
func FuzzConnect(f *testing.F) {
	for _, query := range []string{
		"", "act=login", "act=callback&code=x", "act=query&social_uid=0123456789ABCDEF0123456789ABCDEF",
		"act=check_sso&appid=1000",
		"act=check_sso&appid=1000&redirect_uri=https://app.example.com/", "act=login&appid=1000&timestamp=1&sign=2",
		"act=login&appid=1000&appkey=x&appkey=y",
		"%zz", "a;b", "act=%ff", "act=callback&appid=1000&code=%00", "act[]=login",
	} {
		f.Add(query)
	}
	address := "203.0.113.7"
	h := newFixture(f, from(&address), quietly)
	n := 0
	f.Fuzz(func(t *testing.T, query string) {
		n++
		address = fmt.Sprintf("2001:db8:%x:%x::1", n>>16&0xffff, n&0xffff) // so that nobody is stopped for guessing
		if strings.Contains(query, appKey) {
			return
		}
		for _, path := range []string{"/connect.php", "/check_token.php"} {
			r := httptest.NewRequest("POST", issuer+path, strings.NewReader(query))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := h.serve(r)
			switch {
			case w.Code == 302 && strings.HasPrefix(w.Header().Get("Location"), "https://app.example.com"):
			case w.Code != 200:
				t.Errorf("%s with %q = %d %s", path, query, w.Code, w.Body)
			case strings.Contains(w.Body.String(), `"code":1,`) && !strings.Contains(w.Body.String(), `"logged_in":false`):
				t.Errorf("%s with %q = %s to a stranger", path, query, w.Body)
			}
		}
	})
}
