package signin

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

var hiddenQuery = regexp.MustCompile(`<input type="hidden" name="query" value="([^"]*)">`)

// carried is the authorize request as the page would send it back.
func (a answer) carried() string {
	m := hiddenQuery.FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// Decision 16.
func TestAskAnswersWithThePageInPlace(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.signInPage(get("/oauth/authorize?" + authorizeQuery))
	if a.Code != http.StatusOK || a.carried() != authorizeQuery {
		t.Errorf("Ask() = %d carrying %q, want 200 and %q", a.Code, a.carried(), authorizeQuery)
	}
	for _, want := range []string{
		`<form method="post" action="/oauth/signin">`, `<label for="username">`, `<label for="password">`,
		`name="username" type="text"`, `autocomplete="username webauthn"`, `name="password" type="password" autocomplete="current-password"`,
		"<title>Sign in · Acme</title>", "<h1>Sign in to Acme</h1>", "Secured by Keystile",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script>", "javascript:", `role="alert"`} {
		if strings.Contains(a.body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !a.leaves() {
		t.Errorf("policy = %q holds what follows the form to this site", a.policy())
	}
}

func TestFormPostIsCarriedAsWellAsAQuery(t *testing.T) {
	rm := newFixture(t, nil)
	fields := url.Values{"client_id": {"ksacme"}, "redirect_uri": {callback}, "state": {"a b+c&d=é"}, "empty": {""}}
	r := httptest.NewRequest("POST", origin+"/oauth/authorize?ignored=1", strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a := rm.signInPage(r)
	got, err := url.ParseQuery(a.carried())
	if err != nil || got.Encode() != fields.Encode() || !a.leaves() {
		t.Errorf("carried %q under %q, want %q", a.carried(), a.policy(), fields.Encode())
	}
}

func TestBodyReadAndNotKeptIsNotASilentDeadEnd(t *testing.T) {
	rm := newFixture(t, nil)
	r := httptest.NewRequest("POST", origin+"/oauth/authorize", strings.NewReader(""))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	err := rm.Ask(httptest.NewRecorder(), r, storage.App{})
	if reply.FailureOf(err).Status != http.StatusInternalServerError || !strings.Contains(err.Error(), "PostForm") {
		t.Errorf("Ask() = %v, want a 500 and what to do", err)
	}
}

func TestQueryComesBackByteForByte(t *testing.T) {
	rm := newFixture(t, nil)
	for _, query := range []string{
		"client_id=ksacme&&state=%7e%7E&x", "a=b;c=d&a=%zz", `q="><script>alert(1)</script>`, "x='&y=`&z={}|^[]\\", "a=&lt;&amp;&quot;",
	} {
		r := get("/oauth/authorize")
		r.URL.RawQuery = query
		shown := rm.signInPage(r)
		if shown.carried() != query || strings.Contains(shown.body, "<script>") {
			t.Errorf("carried %q, want %q, as text", shown.carried(), query)
		}
		a := rm.do(post("username", "mina", "password", password, "query", shown.carried()))
		if want := "/oauth/authorize?" + query; a.Header().Get("Location") != want {
			t.Errorf("Location = %q, want %q", a.Header().Get("Location"), want)
		}
	}
}

func TestRequestThatIsTooLongIsRefusedBeforeThePasswordIsTyped(t *testing.T) {
	rm := newFixture(t, nil)
	r := get("/oauth/authorize")
	r.URL.RawQuery = authorizeQuery + "&nonce=" + strings.Repeat("x", web.MaxQuery)
	if err := rm.Ask(httptest.NewRecorder(), r, storage.App{}); !errors.Is(err, error(web.LongQuery)) {
		t.Errorf("Ask() = %v, want longQuery", err)
	}
}

func TestLoginHintFillsInTheUsername(t *testing.T) {
	rm := newFixture(t, nil)
	for hint, want := range map[string]string{
		"mina@example.com":                "mina@example.com",
		" mina ":                          "mina",
		`"><script>alert(1)</script>`:     "&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
		strings.Repeat("x", 101):          "",
		"mina\x00":                        "",
		"mina\u202egnp":                   "",
		"\xff\xfe":                        "",
		`x" autofocus onfocus="alert(1)"`: "x&#34; autofocus onfocus=&#34;alert(1)&#34;",
	} {
		a := rm.signInPage(get("/oauth/authorize?" + authorizeQuery + "&login_hint=" + url.QueryEscape(hint)))
		if value := `name="username" type="text" value="` + want + `"`; !strings.Contains(a.body, value) || strings.Contains(a.body, "<script>") {
			t.Errorf("login_hint %q: the page lacks %q", hint, value)
		}
	}
}

func TestApplicationNameIsShownAsText(t *testing.T) {
	rm := newFixture(t, nil)
	w := httptest.NewRecorder()
	evil := storage.App{ID: "ksevil", Name: `</title><script>alert(1)</script><img src=x onerror=alert(1)>`, Domains: []string{"app.example.com"}}
	must(t, rm.Ask(w, get("/oauth/authorize?"+authorizeQuery), evil))
	for _, bad := range []string{"<script>", "<img"} {
		if strings.Contains(w.Body.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

func TestNameOfTheUserIsEscaped(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	mina, err := rm.store.User(context.Background(), rm.mina.Sub)
	must(t, err)
	mina.Nickname = "<script>alert(1)</script>"
	_, err = rm.store.SaveUser(context.Background(), mina)
	must(t, err)
	if a := rm.do(get("/oauth/signin", cookie)); a.Code != http.StatusOK || strings.Contains(a.body, "<script") {
		t.Errorf("GET /oauth/signin = %d, holds a script: %v, want text", a.Code, strings.Contains(a.body, "<script"))
	}
}

// Decision 22.
func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	rm := newFixture(t, nil)
	zh := authorizeQuery + "&ui_locales=fr+zh-CN"
	for promise, a := range map[string]answer{
		"the form":    rm.signInPage(get("/oauth/authorize?" + zh)),
		"a failure":   rm.do(post("username", "mina", "password", "wrong password", "query", zh)),
		"our own":     rm.do(get("/oauth/signin?ui_locales=zh")),
		"who it is":   rm.do(get("/oauth/signin?ui_locales=zh", rm.enterMina())),
		"a bad field": rm.do(with(post("username", "a", "username", "b"))),
	} {
		want := `<html lang="zh-CN">`
		if promise == "a bad field" {
			want = `<html lang="en">`
		}
		if !strings.Contains(a.body, want) {
			t.Errorf("%s: the page lacks %q", promise, want)
		}
		for _, english := range []string{"Sign in", "Password", "try again", "signed in", "continue"} {
			if want == `<html lang="zh-CN">` && strings.Contains(a.body, english) {
				t.Errorf("%s: the page in Chinese holds %q", promise, english)
			}
		}
	}
}

func TestPageWithoutAnApplicationIsOurs(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.do(get("/oauth/signin?client_id=ksacme&redirect_uri=" + url.QueryEscape(callback)))
	if a.Code != http.StatusOK || strings.Contains(a.body, "Acme") || a.carried() != "" ||
		!strings.Contains(a.policy(), "form-action 'self';") {
		t.Errorf("GET /oauth/signin = %d, want 200 without an application", a.Code)
	}
}

func TestRefusalIsATextInBothLanguages(t *testing.T) {
	for _, text := range []string{
		web.Foreign.Msg, web.NotAForm.Msg, web.Twice.Msg, web.NotText.Msg, web.BadQuery.Msg, web.LongQuery.Msg,
		web.TooLarge.Msg,
		web.RefusedTitle, web.UnavailableTitle, web.UnavailableMsg, web.BrokenTitle, web.BrokenMsg,
	} {
		if page.Chinese.Of(text) != page.Chinese {
			t.Errorf("%q is not in the table of messages", text)
		}
	}
}
