package command

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

const proof = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636 appendix B

// withStrangers serves a data folder that knows applications that nobody registered, and some tools.
func withStrangers(t *testing.T) *service {
	t.Helper()
	data := t.TempDir()
	args := []string{"--limits-per-ip", "100000"}
	start(t, data, args...).stop()
	filled.Strangers(t, data)
	return start(t, data, args...)
}

// agent is a program on the user's device, and the browser that the user answers in.
type agent struct {
	*testing.T
	s       *service
	browser *http.Client
}

// authorize asks for a scope and returns the code, or the page.
func (a *agent) authorize(scope string) (code, page string) {
	a.Helper()
	q := url.Values{"client_id": {filled.DocumentID}, "redirect_uri": {"http://127.0.0.1:1/callback"}, "scope": {scope},
		"response_type": {"code"}, "state": {"s"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}
	return a.follow(a.browser.Get(a.s.base + "/oauth/authorize?" + q.Encode()))
}

// follow returns the code that an answer ends at, or its page.
func (a *agent) follow(r *http.Response, err error) (code, page string) {
	a.Helper()
	fatal(a, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	fatal(a, err)
	if to, err := r.Location(); err == nil && to.Port() == "1" {
		return to.Query().Get("code"), ""
	}
	return "", string(text)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// submit sends the form of a page.
func (a *agent) submit(path, page string, more url.Values) (code, next string) {
	a.Helper()
	fields := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	for name, values := range more {
		fields[name] = values
	}
	return a.follow(a.browser.PostForm(a.s.base+path, fields))
}

// token redeems a code.
func (a *agent) token(code string) (bearer, scope string) {
	a.Helper()
	r, err := http.PostForm(a.s.base+"/oauth/token", url.Values{"grant_type": {"authorization_code"},
		"client_id": {filled.DocumentID}, "code": {code}, "redirect_uri": {"http://127.0.0.1:1/callback"},
		"code_verifier": {proof}})
	fatal(a, err)
	defer r.Body.Close()
	var t struct {
		Bearer string `json:"access_token"`
		Scope  string `json:"scope"`
	}
	fatal(a, json.NewDecoder(r.Body).Decode(&t))
	return t.Bearer, t.Scope
}

// bus sends one message, and returns the challenge too.
func (a *agent) bus(bearer, method, params string) (status int, challenge, body string) {
	a.Helper()
	r, err := http.NewRequestWithContext(a.Context(), "POST", a.s.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	fatal(a, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+bearer)
	answer, err := http.DefaultClient.Do(r)
	fatal(a, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fatal(a, err)
	return answer.StatusCode, answer.Header.Get("WWW-Authenticate"), string(text)
}

var toolNames = regexp.MustCompile(`"name":"([a-z]+__[A-Za-z]+)"`)

func (a *agent) tools(bearer string) (names []string) {
	a.Helper()
	_, _, body := a.bus(bearer, "tools/list", "{}")
	for _, m := range toolNames.FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	return names
}

// Decisions 53 and 55: from a choice on the page to what is listed and called, and to more of it when the
// agent needs more.
func TestAgentGetsWhatItsUserChoseAndAsksForMore(t *testing.T) {
	s := withStrangers(t)
	jar, _ := cookiejar.New(nil)
	a := &agent{T: t, s: s, browser: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Port() == "1" {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
	who := firstRunOf(t, s.data).Admin
	_, page := a.authorize("openid tools")
	_, page = a.submit("/oauth/signin", page, url.Values{"username": {who.Username}, "password": {who.Password}})
	for _, want := range []string{"Allow agent.example.com?", "Did you start this yourself", "6 tools at present", "3 tools at present", `value="tools:b:support"`, `value="tools:shop/refundOrder"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	code, page := a.submit("/oauth/signin/consent", page, url.Values{"tools": {"some"}, "pick": {"tools:b:support"},
		"allow": {"1"}})
	if code == "" {
		t.Fatalf("after a yes: %s", page)
	}
	bearer, scope := a.token(code)
	if got := a.tools(bearer); scope != "openid tools:b:support" ||
		!slices.Equal(got, []string{"post__sendLetter", "shop__findOrders", "shop__getOrder"}) {
		t.Fatalf("the token of %q lists %q", scope, got)
	}
	if code, _ := a.authorize("openid tools"); code == "" {
		t.Error("who has chosen is asked again")
	}

	status, challenge, body := a.bus(bearer, "tools/call", `{"name":"shop__refundOrder"}`)
	if status != 403 || !strings.Contains(challenge, `scope="tools:b:support tools:shop/refundOrder"`) {
		t.Fatalf("a tool beside the choice: %d %s %s", status, challenge, body)
	}
	_, page = a.authorize("tools:b:support tools:shop/refundOrder")
	if !strings.Contains(page, "Use the tool refundOrder of shop on your behalf") {
		t.Fatalf("nobody is asked for more: %s", page)
	}
	code, _ = a.submit("/oauth/signin/consent", page, url.Values{"tools": {"all"}, "allow": {"1"}})
	bearer, scope = a.token(code)
	if got := a.tools(bearer); scope != "tools:b:support tools:shop/refundOrder" || len(got) != 4 {
		t.Errorf("the token of %q lists %q", scope, got)
	}
	if status, challenge, _ := a.bus(bearer, "tools/call", `{"name":"shop__refundOrder"}`); status != 200 {
		t.Errorf("the tool is called with %d %s", status, challenge)
	}
}
