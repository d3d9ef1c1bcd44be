package fake_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector/fake"
)

// No address but our own is ever gone to, also if the page's form is changed by hand.
func TestBrowsersAreSentBackToOurselvesAlone(t *testing.T) {
	h := newFixture(t)
	for _, name := range names {
		address, _, _ := strings.Cut(strings.TrimPrefix(h.begun(name, "BACK"), origin), "#")
		path, query, _ := strings.Cut(address, "?")
		for _, to := range []string{
			"https://evil.example/", "//evil.example/", origin, origin + ".evil.example/", "http://127.0.0.1:80800/",
			"http://127.0.0.1:8080@evil.example/",
			"https://127.0.0.1:8080/", "http://localhost:8080/", origin + "\\evil", origin + "/a\r\nb", origin + "/#f",
			"javascript:alert(1)", "", "HTTP://127.0.0.1:8080/", origin + "/" + strings.Repeat("x", 2048),
		} {
			q := strings.Replace(query, "BACK", url.QueryEscape(to), 1)
			page := h.serve(httptest.NewRequest("GET", path+"?"+q, nil))
			choice := h.post(path, url.Values{"query": {q}, "person": {"lin"}})
			denial := h.post(path, url.Values{"query": {q}, "person": {"nobody"}})
			for _, w := range []*httptest.ResponseRecorder{page, choice, denial} {
				if w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
					t.Errorf("%s back to %q = %d to %q", name, to, w.Code, w.Header().Get("Location"))
				}
			}
		}
	}
}

func TestPageIsPlainAndItsPolicyStrict(t *testing.T) {
	h := newFixture(t)
	for _, name := range names {
		address, _, _ := strings.Cut(strings.TrimPrefix(h.begun(name, back+"&x=\"'<script>"), origin),
			"#")
		w := h.serve(httptest.NewRequest("GET", address, nil))
		text, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
		if w.Code != 200 || strings.Contains(text, "<script") || strings.Contains(text, "<b>Robert</b> ") ||
			!strings.Contains(text, "&lt;b&gt;Robert&lt;/b&gt;") {
			t.Errorf("%s: %d %s", name, w.Code, text)
		}
		if !strings.Contains(text, `<html lang="en">`) || !strings.Contains(text, "<h1>") || len(button.FindAllString(text, -1)) != buttons(name) {
			t.Errorf("%s: no plain page with a button for each: %s", name, text)
		}
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "script") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %s", name, policy)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", name, w.Header())
		}
		path, query, _ := strings.Cut(address, "?")
		for site, want := range map[string]int{"cross-site": http.StatusBadRequest, "same-origin": http.StatusFound} {
			r := httptest.NewRequest("POST", path, strings.NewReader(url.Values{"person": {"lin"}, "query": {query}}.Encode()))
			r.Header.Set("Sec-Fetch-Site", site)
			if w := h.serve(r); w.Code != want {
				t.Errorf("%s: a choice made %s = %d, want %d", name, site, w.Code, want)
			}
		}
	}
}

// buttons returns how many choices there are at a provider; wecom has a stranger too.
func buttons(name string) int {
	if name == "wecom" {
		return 7
	}
	return 6
}

func TestFakeProviderRefusesMismatchedRequests(t *testing.T) {
	h := newFixture(t)
	q := "appid=" + h.Configs().WX.ID + "&response_type=code&scope=snsapi_login&state=a&redirect_uri=" +
		url.QueryEscape(back)
	const page = fake.Path + "/wx/connect/qrconnect"
	for query, want := range map[string]int{
		q: 200, strings.Replace(q, "appid=wx", "appid=ww", 1): 400, strings.Replace(q, "=code", "=token", 1): 400,
		strings.Replace(q, "snsapi_login", "snsapi_base", 1): 400,
		strings.Replace(q, "state=a", "state=a%20b", 1):      400,
		strings.Replace(q, "state=a", "state="+strings.Repeat("a", 129),
			1): 400, "": 400, "%zz": 400,
	} {
		if w := h.serve(httptest.NewRequest("GET", page+"?"+query, nil)); w.Code != want {
			t.Errorf("?%s = %d, want %d", query, w.Code, want)
		}
	}
	for body, want := range map[string]int{
		"person=lin&query=" + url.QueryEscape(q): 302, "person=zoe&query=" + url.QueryEscape(q): 400,
		"query=" + url.QueryEscape(q): 400, "person=lin": 400, "%zz": 400, strings.Repeat("a", 65<<10): 413,
	} {
		if w := h.serve(httptest.NewRequest("POST", page, strings.NewReader(body))); w.Code != want {
			t.Errorf("POST %.60s = %d, want %d", body, w.Code, want)
		}
	}
	for path, want := range map[string]int{"/": 404, fake.Path: 404, fake.Path + "/": 404,
		fake.Path + "/wx/sns/userinfo/..": 404, fake.Path + "/face/lin.svg": 200, fake.Path + "/face/zoe.svg": 404} {
		if w := h.serve(httptest.NewRequest("GET", path, nil)); w.Code != want {
			t.Errorf("GET %s = %d, want %d", path, w.Code, want)
		}
	}
	if w := h.serve(httptest.NewRequest("HEAD", fake.Path+"/wx/sns/oauth2/access_token", nil)); w.Code != 405 {
		t.Errorf("HEAD at a token endpoint = %d, want 405", w.Code)
	}
	for _, c := range []fake.Config{{}, {BaseURL: "127.0.0.1"}, {BaseURL: origin + "/"}, {BaseURL: origin + "/x"},
		{BaseURL: origin, Path: "x"}, {BaseURL: origin, Path: "/x/"}, {BaseURL: origin, Path: "/{x}"}} {
		if f, err := fake.New(c); err == nil || f != nil {
			t.Errorf("New(%+v) = %v, want a complaint", c, f)
		}
	}
}

// The answers are wrapped as the real ones are: nothing but such an answer shows whether a
// connector can read them.
func TestAnswersLookLikeTheRealOnes(t *testing.T) {
	h := newFixture(t)
	wx, qq := h.Configs().WX, h.Configs().QQ
	credentials := func(name, code string) string {
		if name == "wx" {
			return wx.TokenURL + "?grant_type=authorization_code&appid=" + wx.ID + "&secret=" + wx.Secret.Reveal() + "&code=" +
				code
		}
		return qq.TokenURL + "?grant_type=authorization_code&client_id=" + qq.ID + "&client_secret=" + qq.Secret.Reveal() +
			"&code=" + code + "&redirect_uri=" + url.QueryEscape(back)
	}
	for what, c := range map[string]struct{ address, kind, want string }{
		"wx, a code that is none":  {credentials("wx", "x"), "text/plain", `^\{"errcode":40029,"errmsg":"invalid code, rid: 0-fake"\}$`},
		"wx, a token":              {credentials("wx", h.choose("wx", "lin").Get("code")), "text/plain", `"expires_in":7200,"openid":"o[0-9a-f]{27}"`},
		"qq, a code that is none":  {credentials("qq", "x"), "text/html", `^callback\( \{"error":100019,"error_description":"[a-z ]+"\} \);\n$`},
		"qq, a form":               {credentials("qq", h.choose("qq", "lin").Get("code")), "text/html", `^access_token=\w+&expires_in=7776000&refresh_token=\w+$`},
		"qq, JSON":                 {credentials("qq", h.choose("qq", "lin").Get("code")) + "&fmt=json&need_openid=1", "text/html", `"expires_in":"7776000","openid":"[0-9A-F]{32}"`},
		"qq, a token that is none": {qq.OpenIDURL + "?access_token=x", "text/html", `^callback\( \{"error":100016,`},
	} {
		w := h.serve(httptest.NewRequest("GET", c.address, nil))
		body, _ := io.ReadAll(w.Body)
		if w.Code != 200 || w.Header().Get("Content-Type") != c.kind || !regexp.MustCompile(c.want).Match(body) {
			t.Errorf("%s = %d %s %q", what, w.Code, w.Header().Get("Content-Type"), body)
		}
	}
	if got := h.post(fake.Path+"/alipay/gateway.do", url.Values{"app_id": {"x"}}).Body.String(); !strings.HasPrefix(got, `{"error_response":{"code":"40002",`) || strings.Contains(got, `"sign":`) {
		t.Errorf("alipay to a stranger: %s", got)
	}
}
