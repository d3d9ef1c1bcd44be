package demo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const base = "http://127.0.0.1:8080"

func TestStartSendsTheBrowserWithEverythingTheAnswerMustMatch(t *testing.T) {
	s := newStage(t)
	resp := s.get(t, startPath, nil)
	to, err := url.Parse(resp.Header().Get("Location"))
	if err != nil || resp.Code != http.StatusFound || !strings.HasPrefix(to.String(), base+"/oauth/authorize?") {
		t.Fatalf("start = %d to %q", resp.Code, to)
	}
	c := resp.Result().Cookies()[0]
	if c.Path != "/demo" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 || c.MaxAge > 600 ||
		c.Secure {
		t.Errorf("cookie = %v", c)
	}
	parts := strings.Split(c.Value, ".")
	sum := sha256.Sum256([]byte(parts[2]))
	want := map[string]string{
		"client_id": s.app.ID, "redirect_uri": base + "/demo/callback", "response_type": "code", "state": parts[0],
		"nonce":          parts[1],
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	}
	for name, value := range want {
		if got := to.Query()[name]; len(got) != 1 || got[0] != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
	if n := len(parts[2]); n < 43 || n > 128 {
		t.Errorf("the verifier has %d characters, want 43 to 128 (protocol 8)", n)
	}
	if again := s.get(t, startPath, nil).Header().Get("Location"); again == to.String() {
		t.Error("two starts draw the same")
	}
}

func TestCallbackShowsTheClaims(t *testing.T) {
	s := newStage(t)
	came := s.comeBack(t)
	if came.Code != http.StatusSeeOther || came.Header().Get("Location") != base+"/demo/result" {
		t.Fatalf("callback = %d %v", came.Code, came.Header())
	}
	cookies := came.Result().Cookies()
	if c := cookies[0]; c.Name != cookieName || c.MaxAge >= 0 || c.Path != "/demo" {
		t.Errorf("the trip's cookie is not taken back: %v", c)
	}
	resp := s.get(t, resultPath, cookies[1])
	body := resp.Body.String()
	for _, want := range []string{"Hello, Ada", "<th scope=\"row\">email</th><td><span class=\"none\">empty",
		"userinfo -H", "Bearer a.b.c", "7 days", "&lt;script&gt;"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	for _, secret := range []string{s.app.AppKey().Reveal(), "<script"} {
		if strings.Contains(body, secret) {
			t.Errorf("the page shows %q", secret)
		}
	}
	if resp.Code != http.StatusOK || resp.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("result = %d %v", resp.Code, resp.Header())
	}
	if got := s.form.Get("code_verifier"); got != "verifier" || s.form.Get("client_secret") != s.app.AppKey().Reveal() {
		t.Errorf("the token request sends %v", s.form)
	}
	if s.peer != "203.0.113.7:5" {
		t.Errorf("the provider takes the request for one of %q, want the visitor's address", s.peer)
	}
}

func TestResultIsShownAgainToTheBrowserItIsForAndToNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		cookie := s.comeBack(t).Result().Cookies()[1]
		if !cookie.HttpOnly || cookie.Path != "/demo" || cookie.SameSite != http.SameSiteLaxMode {
			t.Errorf("cookie = %v", cookie)
		}
		for range 2 {
			if again := s.get(t, resultPath, cookie); again.Code != http.StatusOK ||
				!strings.Contains(again.Body.String(), "Hello, Ada") {
				t.Errorf("the page reloaded = %d", again.Code)
			}
		}
		start := func(when string, cookie *http.Cookie) {
			t.Helper()
			if resp := s.get(t, resultPath, cookie); resp.Code != http.StatusSeeOther ||
				resp.Header().Get("Location") != base+"/demo" {
				t.Errorf("%s: %d to %q", when, resp.Code, resp.Header().Get("Location"))
			}
		}
		start("another browser", nil)
		start("a guess", &http.Cookie{Name: resultCookie, Value: "guess"})
		for range maxResults {
			s.demo.results.add(view{}, time.Now())
		}
		start("after many others", cookie)
		cookie = s.comeBack(t).Result().Cookies()[1]
		time.Sleep(resultLife)
		start("after ten minutes", cookie)
	})
}

// Decision 6.
func TestCallbackBelievesNothingUnchecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stage)
		want   string
	}{
		{"a state of another browser", func(s *stage) { s.query.Set("state", "theirs") }, "belongs to no sign-in"},
		{"no state where no sign-in began", func(s *stage) { s.query.Del("state"); s.cookie = "" }, "belongs to no sign-in"},
		{"no cookie", func(s *stage) { s.cookie = "" }, "belongs to no sign-in"},
		{"a broken cookie", func(s *stage) { s.cookie = "state" }, "belongs to no sign-in"},
		{"another issuer", func(s *stage) { s.query.Set("iss", "https://evil.example") }, "does not come from"},
		{"no issuer", func(s *stage) { s.query.Del("iss") }, "does not come from"},
		{"an error of the provider", func(s *stage) { s.query.Set("error", "access_denied") }, "access_denied"},
		{"a code it refuses", func(s *stage) { s.status = 400 }, "invalid_grant"},
		{"a nonce of another sign-in", func(s *stage) { s.claims["nonce"] = "old" }, "id_token does not pass"},
		{"an id_token for another application", func(s *stage) { s.claims["aud"] = "ks2" }, "id_token does not pass"},
		{"an id_token of another issuer", func(s *stage) { s.claims["iss"] = "https://evil.example" },
			"id_token does not pass"},
		{"an id_token that has expired", func(s *stage) { s.claims["exp"] = time.Now().Unix() }, "id_token does not pass"},
		{"an id_token signed by somebody else", func(s *stage) { s.key = "guess" }, "id_token does not pass"},
		{"an id_token that says none", func(s *stage) { s.alg = "none" }, "id_token does not pass"},
		{"no id_token", func(s *stage) { s.alg = "-" }, "id_token does not pass"},
		{"an application that is gone", func(s *stage) { s.store.DeleteApp(t.Context(), s.app, storage.Quota{}) },
			"was removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			c.change(s)
			resp := s.comeBack(t)
			body := resp.Body.String()
			if resp.Code < 400 || !strings.Contains(body, c.want) || !strings.Contains(body, `href="`+base+`/demo"`) {
				t.Errorf("callback = %d %s, want %q and the way back", resp.Code, body, c.want)
			}
			if strings.Contains(body, "a.b.c") {
				t.Error("the page shows the access token all the same")
			}
		})
	}
}

func TestPageIsStrict(t *testing.T) {
	s := newStage(t)
	for _, path := range []string{Path, callbackPath, startPath + "?x"} {
		resp := s.get(t, path, nil)
		if resp.Code == http.StatusFound {
			continue
		}
		policy := resp.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "script") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	if got := s.get(t, Path, nil).Body.String(); !strings.Contains(got, `href="`+base+`/demo/start"`) || strings.Contains(got, "<script") {
		t.Errorf("the button does not lead to base_url: %s", got)
	}
}

// stage is a demo with a provider that answers as the test wants.
type stage struct {
	demo  *Demo
	store *storage.Store
	app   storage.App

	query  url.Values // of the callback
	cookie string
	status int
	claims map[string]any
	alg    string
	key    string

	form url.Values // of the token request
	peer string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	app, err := Register(t.Context(), store, base, storage.App{})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{
		store: store, app: app, query: url.Values{"code": {"c"}, "state": {"state"}, "iss": {base}},
		cookie: "state.nonce.verifier", status: 200, alg: "HS256", key: app.AppKey().Reveal(),
		claims: map[string]any{"iss": base, "aud": app.ID, "nonce": "nonce", "exp": time.Now().Unix() + 60},
	}
	s.demo = New(Config{BaseURL: base, Store: store, Provider: http.HandlerFunc(s.provide)})
	return s
}

func (s *stage) provide(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	switch {
	case r.URL.Path == "/oauth/token" && s.status == 200:
		s.form, s.peer = r.PostForm, r.RemoteAddr
		json.NewEncoder(w).Encode(map[string]any{"access_token": "a.b.c", "expires_in": 604800, "scope": "openid",
			"id_token": s.idToken()})
	case r.URL.Path == "/oauth/userinfo" && r.Header.Get("Authorization") == "Bearer a.b.c":
		fmt.Fprint(w, `{"sub":"u1","nickname":"Ada","name":"<script>","email":""}`)
	default:
		w.WriteHeader(s.status)
		fmt.Fprint(w, `{"error":"invalid_grant","msg":"no"}`)
	}
}

func (s *stage) idToken() string {
	if s.alg == "-" {
		return ""
	}
	payload, _ := json.Marshal(s.claims)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"`+s.alg+`"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	mac := hmac.New(sha256.New, []byte(s.key))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// comeBack calls the callback as the stage has it.
func (s *stage) comeBack(t *testing.T) *httptest.ResponseRecorder {
	t.Helper()
	var cookie *http.Cookie
	if s.cookie != "" {
		cookie = &http.Cookie{Name: cookieName, Value: s.cookie}
	}
	return s.get(t, callbackPath+"?"+s.query.Encode(), cookie)
}

func (s *stage) get(t *testing.T, path string, cookie *http.Cookie) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.RemoteAddr = "203.0.113.7:5"
	if cookie != nil {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	s.demo.ServeHTTP(w, r)
	return w
}
