package oauth_test

import (
	"html"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

var backLink = regexp.MustCompile(`<a class="button[^"]*" href="([^"]*)" rel="noreferrer[^"]*">([^<]*)</a>`)

// linkOf returns where the link of a page leads, nil unless the answer is a page that redirects nowhere.
func linkOf(w *httptest.ResponseRecorder) *url.URL {
	m := backLink.FindStringSubmatch(w.Body.String())
	if m == nil || w.Header().Get("Location") != "" || w.Header().Get("Refresh") != "" ||
		strings.Contains(w.Body.String(), "http-equiv") {
		return nil
	}
	to, _ := url.Parse(html.UnescapeString(m[1]))
	return to
}

// leadsTo reports whether an answer is a page, with a link that tells the application of an error.
func leadsTo(w *httptest.ResponseRecorder, name string) bool {
	to := linkOf(w)
	return w.Code == 400 && to != nil && to.Query().Get("error") == name
}

const evil = "https://evil.example/phish"

// evilApp registers an application as anybody may.
func evilApp(t *testing.T, s *storage.Store, redirects ...string) string {
	id := client.DynamicPrefix + "evil"
	must(s.SaveApp(t.Context(), storage.App{ID: id, Name: "Evil", Public: true, Client: &client.Description{
		Kind: client.Dynamic, AuthMethod: client.AuthNone, Grants: []string{"authorization_code"}, RedirectURIs: redirects,
	}}))(t)
	return id
}

// RFC 9700 4.11.2, decision 95.
func TestErrorNeverRedirectsToAnApplicationWithoutConsent(t *testing.T) {
	for what, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"prompt=none":           {[]string{"prompt", "none"}, "interaction_required"},
		"a no":                  {[]string{"keystile_consent", "denied"}, "access_denied"},
		"a bogus response_type": {[]string{"response_type", "bogus"}, "unsupported_response_type"},
		"no response_type":      {[]string{"response_type", "-"}, "invalid_request"},
		"a response_mode":       {[]string{"response_mode", "fragment"}, "invalid_request"},
		"no challenge":          {[]string{"code_challenge", "-", "code_challenge_method", "-"}, "invalid_request"},
		"plain":                 {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"a bogus prompt":        {[]string{"prompt", "bogus"}, "invalid_request"},
		"a bogus max_age":       {[]string{"max_age", "x"}, "invalid_request"},
		"a request object":      {[]string{"request", "x"}, "request_not_supported"},
		"another resource":      {[]string{"resource", "https://other.example"}, "invalid_target"},
	} {
		for _, to := range []string{evil + "?a=1", "com.example.evil:/x", "cursor://anysphere.cursor-mcp/oauth/callback",
			"http://127.0.0.1:4000/cb"} {
			for _, method := range []string{"GET", "POST"} {
				for _, signedIn := range []bool{false, true} {
					h, consent := fixtureWithConsent(t)
					id := evilApp(t, h.store, evil+"?a=1", "com.example.evil:/x", "cursor://anysphere.cursor-mcp/oauth/callback",
						"http://127.0.0.1/cb")
					if !signedIn {
						h.browser.session = nil
					}
					ask := func() *httptest.ResponseRecorder {
						v := form(append([]string{
							"response_type", "code", "client_id", id, "redirect_uri", to, "state", "xyz", "code_challenge",
							challengeOf(verifier), "code_challenge_method", "S256",
						}, c.pairs...)...)
						r := httptest.NewRequest(method, "/oauth/authorize?"+v.Encode(), nil)
						if method == "POST" {
							r = httptest.NewRequest(method, "/oauth/authorize", strings.NewReader(v.Encode()))
							r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
						}
						return h.serve(r)
					}
					w := ask()
					if method == "POST" && !signedIn { // by GET it is asked above
						if to := w.Header().Get("Location"); w.Code != 303 || !strings.HasPrefix(to, "/oauth/authorize?") {
							t.Errorf("%s: a form without a session is led to %s", what, to)
						}
						continue
					}
					back := linkOf(w)
					if !leadsTo(w, c.want) || back.Query().Get("state") != "xyz" || back.Query().Get("iss") != issuer ||
						!strings.HasPrefix(back.String(), to) {
						t.Fatalf("%s, %s, to %s, signed in %t: %d to %q: %s", what, method, to, signedIn, w.Code,
							w.Header().Get("Location"), w.Body)
					}
					if w.Header().Get("X-Frame-Options") != "DENY" || !strings.Contains(w.Header().Get("Content-Security-Policy"),
						"frame-ancestors 'none'") || w.Header().Get("Cache-Control") != "no-store" {
						t.Errorf("%s: headers %v", what, w.Header())
					}
					if consent.allowed = true; signedIn && c.want != "interaction_required" {
						if w := ask(); w.Code != 302 || !strings.HasPrefix(w.Header().Get("Location"), to) ||
							errorOf(w.Header().Get("Location")) != c.want {
							t.Errorf("%s: once the visitor has consented, %d to %q", what, w.Code, w.Header().Get("Location"))
						}
					}
				}
			}
		}
	}
}

// Any page on the web can send a browser here, and must not learn from it who it belongs to.
func TestPromptNoneTellsNothingWithoutConsent(t *testing.T) {
	var pages []string
	for _, who := range []string{"nobody", "somebody", "somebody who signed in long ago"} {
		h, consent := fixtureWithConsent(t)
		id := evilApp(t, h.store, evil)
		asked := []string{"client_id", id, "redirect_uri", evil, "prompt", "none", "code_challenge", challengeOf(verifier),
			"code_challenge_method", "S256"}
		switch who {
		case "nobody":
			h.browser.session = nil
		case "somebody who signed in long ago":
			asked = append(asked, "max_age", "0")
		}
		w := h.authorize(asked...)
		text := w.Body.String()
		for _, name := range []string{"Content-Security-Policy", "Content-Length", "Cache-Control", "Set-Cookie",
			"X-Frame-Options", "Referrer-Policy"} {
			text += "\n" + w.Header().Get(name)
		}
		pages = append(pages, text)
		if consent.asked != nil || h.browser.prompts != 0 || w.Code != 400 {
			t.Errorf("%s: %d, asked %q", who, w.Code, consent.asked)
		}
	}
	if pages[0] != pages[1] || pages[0] != pages[2] {
		t.Errorf("the pages differ:\n%s\n%s\n%s", pages[0], pages[1], pages[2])
	}
}

func TestPageSaysWhoAskedWronglyInTheLanguageOfItsReader(t *testing.T) {
	h, _ := fixtureWithConsent(t)
	id := evilApp(t, h.store, evil, "http://localhost/cb")
	for locale, want := range map[string][2]string{
		"en": {"The application at evil.example asked wrongly.",
			"A program on this device, at localhost:99, asked wrongly."},
		"zh-CN": {"位于 evil.example 的应用发出了错误的请求。", "此设备上的程序（localhost:99）发出了错误的请求。"},
	} {
		for i, to := range []string{evil, "http://localhost:99/cb"} {
			w := h.authorize("client_id", id, "redirect_uri", to, "response_type", "bogus", "ui_locales", locale)
			if !strings.Contains(w.Body.String(), want[i]) || !strings.Contains(w.Body.String(), `<html lang="`+locale) {
				t.Errorf("%s: the page lacks %q: %s", locale, want[i], w.Body)
			}
		}
		for _, pairs := range [][]string{{"prompt", "none"}, {"keystile_consent", "denied"}} {
			w := h.authorize(append([]string{"client_id", id, "redirect_uri", evil, "ui_locales", locale, "code_challenge",
				challengeOf(verifier), "code_challenge_method", "S256"}, pairs...)...)
			if english := strings.Contains(w.Body.String(), "application at"); english != (locale == "en") {
				t.Errorf("%s, %v: %s", locale, pairs, w.Body)
			}
		}
	}
}

// Records of an earlier version are judged by the rules of this one.
func TestRedirectOfAnAgentKeepsToItsOwnScheme(t *testing.T) {
	h, consent := fixtureWithConsent(t)
	consent.allowed = true
	id := evilApp(t, h.store, "ms-officecmd:/x", "steam://run/1")
	for _, to := range []string{"ms-officecmd:/x", "steam://run/1"} {
		w := h.authorize("client_id", id, "redirect_uri", to, "code_challenge", challengeOf(verifier),
			"code_challenge_method", "S256")
		if w.Code != 400 || w.Header().Get("Location") != "" || linkOf(w) != nil {
			t.Errorf("%s: %d to %q, link %v; want a page without a link", to, w.Code, w.Header().Get("Location"), linkOf(w))
		}
		if w := h.logout("GET", nil, "client_id", id, "post_logout_redirect_uri", to); w.Code != 200 ||
			w.Header().Get("Location") != "" || linkOf(w) != nil {
			t.Errorf("logout to %s: %d, link %v", to, w.Code, linkOf(w))
		}
	}
}

// Its own user can get it an id_token, and send it to anybody.
func TestLogoutRedirectsToNoApplicationThatTheVisitorHasNotConsentedTo(t *testing.T) {
	for _, signedIn := range []bool{false, true} {
		for _, allowed := range []bool{false, true} {
			h, consent := fixtureWithConsent(t)
			id := evilApp(t, h.store, evil)
			consent.allowed = true
			code := h.code("client_id", id, "redirect_uri", evil, "scope", "openid", "code_challenge", challengeOf(verifier),
				"code_challenge_method", "S256")
			hint := h.exchange(code, "client_id", id, "client_secret", "-", "redirect_uri", evil, "code_verifier",
				verifier).tokens(t).text("id_token")
			if hint == "" {
				t.Fatal("there is no id_token")
			}
			consent.allowed = allowed
			if !signedIn {
				h.browser.session = nil
			}
			w := h.logout("GET", nil, "client_id", id, "id_token_hint", hint, "post_logout_redirect_uri", evil, "state", "xyz")
			if redirects := w.Header().Get("Location") != ""; redirects != (signedIn && allowed) {
				t.Errorf("GET, signed in %t, allowed %t: %d to %q", signedIn, allowed, w.Code, w.Header().Get("Location"))
			}
			if !signedIn {
				if to := linkOf(w); to == nil || to.String() != evil+"?state=xyz" {
					t.Errorf("the page for nobody links to %v", to)
				}
			}
			h.browser.signIn(h.user)
			w = h.logout("POST", map[string]string{"Sec-Fetch-Site": "same-origin"}, "client_id", id, "post_logout_redirect_uri",
				evil)
			if redirects := w.Header().Get("Location") != ""; redirects != allowed || h.browser.session != nil {
				t.Errorf("POST, allowed %t: %d to %q", allowed, w.Code, w.Header().Get("Location"))
			}
		}
	}
}

// RFC 9700 2.1.1: the registered ones of earlier versions lack the mark that forbids it.
func TestApplicationThatNobodyRegisteredSendsS256(t *testing.T) {
	h, consent := fixtureWithConsent(t)
	consent.allowed = true
	id := evilApp(t, h.store, evil)
	for _, pairs := range [][]string{{"code_challenge", verifier, "code_challenge_method", "plain"},
		{"code_challenge", verifier}, {}} {
		w := h.authorize(append([]string{"client_id", id, "redirect_uri", evil}, pairs...)...)
		if errorOf(w.Header().Get("Location")) != "invalid_request" {
			t.Errorf("%v: %d to %q", pairs, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestClientThatRegistersItselfMustUsePKCES256(t *testing.T) {
	h := newRegistrar(t)
	id, _ := h.agent()
	if app := must(h.store.App(t.Context(), id))(t); !app.ForbidPlain {
		t.Error("it is stored as one that may")
	}
	w := h.authorize("client_id", id, "redirect_uri", "http://127.0.0.1:1/cb", "code_challenge", verifier,
		"code_challenge_method", "plain")
	if errorOf(w.Header().Get("Location")) != "invalid_request" {
		t.Errorf("plain: %d to %q", w.Code, w.Header().Get("Location"))
	}
}
