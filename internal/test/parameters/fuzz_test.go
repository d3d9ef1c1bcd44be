package parameters

import (
	"net/url"
	"strings"
	"testing"
)

// A service is replaced by a new one after so many requests: each code and token stays in the memory of the old one.
const perService = 50_000

// Authorize and token answer by themselves every parameter that is sent beside, or in place of, those they
// need.
func FuzzParameters(f *testing.F) {
	for i, name := range names() {
		f.Add(name, "value", "", byte(i))
	}
	for i, how := range ways {
		name := names()[i*7%len(names())]
		if text := how.write(name, "value"); len(text) < 1<<10 {
			f.Add("state", "s", text, byte(i))
		}
	}
	s := start(f)
	ada := s.cookies
	f.Fuzz(func(t *testing.T, name, value, raw string, where byte) {
		if s.asked > perService {
			s.close(t)
			s = start(t)
			ada = s.cookies
		}
		more := raw
		if name != "" {
			more = url.QueryEscape(name) + "=" + url.QueryEscape(value) + "&" + raw
		}
		in := func(request url.Values) string {
			if where&4 == 0 { // in place of what the request has, else beside it
				request.Del(name)
			}
			return request.Encode() + "&" + more
		}
		switch where & 3 {
		case 0:
			if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
				return // no request line carries this
			}
			if where&8 != 0 {
				s.cookies = nil // nobody is signed in
			}
			fuzzedAuthorize(t, s, "GET", in(authorization()))
			s.cookies = ada
		case 1:
			fuzzedAuthorize(t, s, "POST", in(authorization()))
		case 2:
			fuzzedToken(t, s, in(clientCredentials()))
		default:
			fuzzedToken(t, s, in(s.codeGrant(t)))
		}
	})
}

func fuzzedAuthorize(t *testing.T, s *service, method, text string) {
	w := s.send(method, "/oauth/authorize", text)
	if wrong := judgeAuthorize(t, text, w); wrong != "" {
		t.Errorf("%s %q: %s: %d %q %s", method, text, wrong, w.Code, w.Header().Get("Location"), w.Body)
	}
}

func fuzzedToken(t *testing.T, s *service, text string) {
	w := s.send("POST", "/oauth/token", text)
	if wrong := judgeToken(t, w); wrong != "" {
		t.Errorf("%q: %s: %d %s", text, wrong, w.Code, w.Body)
	}
}
