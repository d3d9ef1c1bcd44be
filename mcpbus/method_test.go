package mcpbus_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestMethodsOtherThanPOSTAreRefused(t *testing.T) {
	h := newFixture(t)
	for _, method := range []string{"GET", "HEAD", "DELETE", "PUT", "OPTIONS", "PATCH"} {
		r := httptest.NewRequest(method, busURI, nil)
		r.Header.Set("Authorization", "Bearer app")
		a := send(h.bus, r)
		if a.status != 405 || a.header.Get("Allow") != "POST" || a.code() != -32000 || a.body["code"] != 405.0 ||
			a.body["errcode"] != 405.0 {
			t.Errorf("%s = %d %v %s", method, a.status, a.header, a.text)
		}
	}
}

// Clients look for the login with a GET or a HEAD, and must find it as with a POST: whatever the
// method, a client without a token is told first where to get one. OPTIONS asks for methods alone,
// and browsers send no token with it.
func TestMethodWithoutATokenGetsTheChallenge(t *testing.T) {
	h := bundled(t)
	for _, path := range []string{"/api/mcp", supportPath, "/api/mcp/b/none"} {
		for bearer, want := range map[string]string{"": h.at(path, "", "ping", "").header.Get("WWW-Authenticate"),
			"none": h.at(path, "none", "ping", "").header.Get("WWW-Authenticate")} {
			for _, method := range []string{"GET", "HEAD", "DELETE", "PUT", "PATCH"} {
				a := send(h.bus, asked(method, path, bearer))
				if a.status != 401 || want == "" || a.header.Get("WWW-Authenticate") != want || a.body["errcode"] != 401.0 {
					t.Errorf("%s %s with the token %q = %d, challenge %s, want %s", method, path, bearer, a.status,
						a.header.Get("WWW-Authenticate"), want)
				}
			}
		}
		if a := send(h.bus, asked("OPTIONS", path, "")); a.status != 405 || a.header.Get("Allow") != "POST" ||
			a.header.Get("WWW-Authenticate") != "" {
			t.Errorf("OPTIONS %s = %d %v", path, a.status, a.header)
		}
	}
	for path, want := range map[string]int{supportPath: 405, "/api/mcp/b/none": 405, "/api/mcp/b/a%20b": 404} {
		if a := send(h.bus, asked("GET", path, "tools")); a.status != want {
			t.Errorf("GET %s = %d %s, want %d", path, a.status, a.text, want)
		}
	}
	r := asked("GET", "/api/mcp", "")
	r.Header.Set("Origin", "https://evil.example")
	if a := send(h.bus, r); a.status != 403 {
		t.Errorf("a page of another origin gets %d", a.status)
	}
}

func asked(method, path, bearer string) *http.Request {
	r := httptest.NewRequest(method, issuer+path, nil)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}
