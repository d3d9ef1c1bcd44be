package parameters

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// values returns what a text says of a parameter, read as browsers write forms, and whether all of it can be read.
func values(text, name string) (found []string, readable bool) {
	readable = true
	for part := range strings.SplitSeq(text, "&") {
		rawName, rawValue, _ := strings.Cut(part, "=")
		got, err := url.QueryUnescape(rawName)
		if err != nil || got != name {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		readable = readable && err == nil && utf8.ValidString(value) && !strings.Contains(value, "\x00")
		found = append(found, value)
	}
	return found, readable
}

// only reports whether a text has a parameter once, with this value.
func only(text, name, value string) bool {
	found, readable := values(text, name)
	return readable && len(found) == 1 && found[0] == value
}

// decided reports whether authorize answers the request with a page whatever the application is: signatures and
// tickets of the old endpoints prove who asks, and nothing is sent anywhere before that (protocol 4.1, 4.10).
func decided(text string) bool {
	for _, name := range []string{"sign", "timestamp", "legacy"} {
		if found, _ := values(text, name); len(found) > 0 {
			return true
		}
	}
	return false
}

// judgeAuthorize returns what is wrong with an answer of authorize to a request. "": nothing.
func judgeAuthorize(t testing.TB, text string, w *httptest.ResponseRecorder) string {
	if wrong := judgeAnswer(t, w); wrong != "" {
		return wrong
	}
	location := w.Header().Get("Location")
	to, err := url.Parse(location)
	switch known := only(text, "client_id", client) && only(text, "redirect_uri", redirect); {
	case err != nil:
		return err.Error()
	case strings.HasPrefix(location, redirect+"?") && !known:
		return "it is sent to an application that may not be meant"
	case strings.HasPrefix(location, redirect+"?"):
		return judgeReturn(text, to.Query())
	case location != "" && (!strings.HasPrefix(location, "/oauth/") && !strings.HasPrefix(location, origin+"/oauth/")):
		return "it is sent to a stranger"
	case known && !decided(text) && w.Code >= 400:
		return "the application waits for ever"
	}
	return ""
}

// judgeReturn returns what is wrong with the parameters that an application is called with.
func judgeReturn(text string, q url.Values) string {
	if state, readable := values(text, "state"); readable && len(state) == 1 && q.Get("state") != state[0] {
		return "the state is lost"
	}
	if q.Has("code") == q.Has("error") || !decided(text) && q.Get("iss") != origin {
		return "it is neither code nor error, or of nobody"
	}
	return judgeTexts(q.Get("error"), q.Get("error_description"))
}

// judgeToken returns what is wrong with an answer of token. "": nothing.
func judgeToken(t testing.TB, w *httptest.ResponseRecorder) string {
	if wrong := judgeAnswer(t, w); wrong != "" {
		return wrong
	}
	var says struct {
		AccessToken string `json:"access_token"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &says); err != nil {
		return err.Error()
	}
	if w.Code == http.StatusOK == (says.AccessToken == "") || w.Code != http.StatusOK == (says.Error == "") {
		return "it is neither a token nor an error"
	}
	return judgeTexts(says.Error, says.Description)
}

// judgeAnswer returns what is wrong with an answer of either.
func judgeAnswer(t testing.TB, w *httptest.ResponseRecorder) string {
	if w.Code >= 500 || w.Code == http.StatusTooManyRequests {
		return "no answer may be that"
	}
	texts, err := itsTexts()
	must(t, err)
	said := w.Body.String()
	if location := w.Header().Get("Location"); location != "" {
		decoded, _ := url.QueryUnescape(location)
		said += location + decoded
	}
	for _, text := range texts {
		if strings.Contains(said, text) {
			return fmt.Sprintf("%s says %q", inside, text)
		}
	}
	for name, all := range w.Header() {
		if strings.ContainsAny(strings.Join(all, ""), "\r\n\x00") {
			return name + " splits the header"
		}
	}
	return ""
}

// judgeTexts returns what is wrong with the texts of an error (RFC 6749 4.1.2.1, 5.2).
func judgeTexts(texts ...string) string {
	for _, text := range texts {
		for _, c := range text {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return fmt.Sprintf("%q may not stand in an error", c)
			}
		}
	}
	return ""
}
