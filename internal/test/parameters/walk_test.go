package parameters

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A way writes a parameter that has a value already, if it is one of those that the request needs.
type way struct {
	name  string
	write func(name, value string) string // the text of it, percent-encoded as the sender does it
	wrong bool                            // it cannot be read, whoever reads it
}

// as returns a function that sends a text in place of the value.
func as(text string) func(name, value string) string {
	return func(name, _ string) string { return url.QueryEscape(name) + "=" + text }
}

var ways = []way{
	{"absent", func(string, string) string { return "" }, false},
	{"empty", as(""), false},
	{"without =", func(name, _ string) string { return url.QueryEscape(name) }, false},
	{"as it is", func(name, value string) string { return pairs(name, value).Encode() }, false},
	{"twice", func(name, value string) string { return url.Values{name: {value, value}}.Encode() }, false},
	{"and another", func(name, value string) string { return url.Values{name: {value, "other"}}.Encode() }, false},
	{"another before", func(name, value string) string { return url.Values{name: {"other", value}}.Encode() }, false},
	{"empty, and again", func(name, value string) string { return url.Values{name: {"", value}}.Encode() }, false},
	{"a bad escape", as("a%zzb"), true},
	{"half an escape", as("a%2"), true},
	{"a bad escape in the name", func(name, _ string) string { return url.QueryEscape(name) + "%g1=x" }, true},
	{"no UTF-8", as("%ff%fe"), true},
	{"half a character", as("%E4%BD"), true},
	{"NUL", as("a%00b"), true},
	{"NUL in the name", func(name, _ string) string { return url.QueryEscape(name) + "%00=x" }, true},
	{";", as("a;b=c;d"), false},
	{"a line end", as("a%0d%0aSet-Cookie:%20x=1"), false},
	{"quotes", as(url.QueryEscape(`"\'<script>` + "`")), false},
	{"Chinese", as(url.QueryEscape("钥匙 🔑")), false},
	{"16 KB", as(strings.Repeat("k", 16<<10)), false},
	{"JSON", as(url.QueryEscape(`{"a":["b",{"c":null}]}`)), false},
	{"a number", as("-9223372036854775809"), false},
	{"a list", func(name, value string) string { return pairs(name+"[]", value).Encode() }, false},
	{"a URL", as(url.QueryEscape("https://evil.example/?a=b#c")), false},
}

// written returns a request in which a parameter is written in a way.
func written(request url.Values, name string, w way) string {
	value, rest := request.Get(name), make(url.Values, len(request))
	for of, values := range request {
		if of != name {
			rest[of] = values
		}
	}
	if value == "" {
		value = "value"
	}
	text := rest.Encode()
	if more := w.write(name, value); more != "" {
		text += "&" + more
	}
	return text
}

// read are the parameters that authorize or token look at; an application that sends any other gets what it asks for.
var read = strings.Fields(`
	response_type client_id redirect_uri state scope code_challenge code_challenge_method nonce prompt max_age acr_values
	login_hint id_token_hint ui_locales resource response_mode request request_uri registration timestamp sign login_type
	legacy consent client_secret client_assertion client_assertion_type grant_type code code_verifier refresh_token
	device_code token token_type_hint logout_hint post_logout_redirect_uri dpop_jkt assertion subject_token
	subject_token_type actor_token actor_token_type requested_token_type
`)

func TestParametersAreAtLeast150(t *testing.T) {
	if n := len(names()); n < 150 {
		t.Errorf("%d names", n)
	}
}

// An application sends anything beside what it needs, and authorize answers it in words of its own.
func TestAuthorizeAnswersTheApplicationWhateverItSends(t *testing.T) {
	s := start(t)
	defer s.close(t)
	for _, name := range names() {
		for _, how := range ways {
			text := written(authorization(), name, how)
			for _, method := range []string{"GET", "POST"} {
				w := s.send(method, "/oauth/authorize", text)
				wrong := judgeAuthorize(t, text, w)
				code := strings.Contains(w.Header().Get("Location"), "code=")
				if wrong == "" && !slices.Contains(read, name) && code == how.wrong {
					wrong = "a parameter that nobody reads decides"
				}
				complain(t, w, wrong, method, name, how.name)
			}
		}
	}
}

// It answers so, too, where nobody is signed in and a page has to keep the request until somebody is.
func TestAuthorizeAnswersTheApplicationWhereNobodyIsSignedIn(t *testing.T) {
	s := start(t)
	defer s.close(t)
	s.cookies = nil
	for i, name := range names() {
		for j, how := range ways {
			if (i+j)%6 != 0 && !slices.Contains(read, name) { // a page takes longer than a redirect
				continue
			}
			text := written(authorization(), name, how)
			w := s.send("GET", "/oauth/authorize", text)
			complain(t, w, judgeAuthorize(t, text, w), "GET by nobody", name, how.name)
		}
	}
}

// The same holds of token, for each grant.
func TestTokenAnswersInItsOwnWordsWhateverIsSent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := start(t)
	defer s.close(t)
	for _, name := range names() {
		for _, how := range ways {
			for _, request := range []url.Values{clientCredentials(), s.codeGrant(t)} {
				w := s.send("POST", "/oauth/token", written(request, name, how))
				wrong := judgeToken(t, w)
				if good := w.Code == 200; wrong == "" && !slices.Contains(read, name) && good == how.wrong {
					wrong = "a parameter that nobody reads decides"
				}
				complain(t, w, wrong, request.Get("grant_type"), name, how.name)
			}
		}
	}
}

func complain(t *testing.T, w *httptest.ResponseRecorder, wrong, where, name, how string) {
	t.Helper()
	if wrong != "" {
		t.Errorf("%s with %s, %s: %s: %d %.200q %.300s", where, name, how, wrong, w.Code, w.Header().Get("Location"), w.Body)
	}
}
