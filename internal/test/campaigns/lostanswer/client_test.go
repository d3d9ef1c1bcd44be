package lostanswer_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"
)

// answer holds what a client is told.
type answer struct {
	*httptest.ResponseRecorder
	refused int // how often the same request was answered 503 before
}

func (a answer) text(path string) string {
	var v any
	json.Unmarshal(a.Body.Bytes(), &v)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

func (a answer) cookie(name string) string {
	for _, c := range a.Result().Cookies() {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// request is a request that can be sent again.
type request struct {
	method, target, body string
	header               http.Header
}

func get(target string, headers ...string) request { return request{"GET", target, "", pairs(headers)} }

func post(target string, form url.Values, headers ...string) request {
	return request{"POST", target, form.Encode(),
		pairs(append(headers, "Content-Type", "application/x-www-form-urlencoded"))}
}

func postJSON(target, body string, headers ...string) request {
	return request{"POST", target, body, pairs(append(headers, "Content-Type", "application/json"))}
}

func bearer(text string) []string  { return []string{"Authorization", "Bearer " + text} }
func session(text string) []string { return []string{"Cookie", "open_sso_token=" + text} }

func pairs(headers []string) http.Header {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return h
}

// mostTries limits how often a client sends one request again.
const mostTries = 4

// send sends a request as a good client does: after a 503 it waits as long as that says, and sends the
// same again.
func (w *world) send(q request) answer {
	w.Helper()
	for tries := 0; ; tries++ {
		r := httptest.NewRequest(q.method, origin+q.target, strings.NewReader(q.body))
		r.Header = q.header.Clone()
		a := answer{httptest.NewRecorder(), tries}
		w.service.ServeHTTP(a, r)
		if a.Code != http.StatusServiceUnavailable || tries == mostTries {
			return a
		}
		wait, err := time.ParseDuration(a.Header().Get("Retry-After") + "s")
		if done := strings.Contains(a.Body.String(), "nothing has to be sent again"); done { // and may be, all the same
			wait = time.Second
		} else if err != nil || wait <= 0 {
			w.Errorf("%s %s = 503 without Retry-After: %v", q.method, q.target, a.Header())
		}
		w.refused++
		w.wire.heal()
		time.Sleep(wait)
	}
}
