package command

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestTheSettingsOfTheBusReachIt(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := 64 << 10
		if r.URL.Path == "/over" {
			size++
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Write([]byte(strings.Repeat("x", size)))
	}))
	t.Cleanup(upstream.Close)
	s := start(t, t.TempDir(), "--upstreams-allow-private", "127.0.0.0/8", "--bus-page-size", "2", "--bus-max-answer", "64KiB",
		"--bus-origins", "https://app.example.com", "--cors-origins", "https://console.example.com")
	registered(t, s, `{"member":"m","upstream_url":"`+upstream.URL+`","openapi":{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}},"/over":{"get":{"operationId":"over"}},"/z":{"get":{"operationId":"z"}}}}}`, 200)
	token := ownToken(t, s)
	if list := speak(t, s, token, "tools/list", ""); !strings.Contains(list, `"nextCursor":"m__over"`) || strings.Contains(list, "m__z") {
		t.Errorf("with pages of 2 the first is %s", list)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"m__a"}`); strings.Contains(said, "isError") || strings.Count(said, "x") < 64<<10 {
		t.Errorf("an answer as large as may be is %.200s", said)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"m__over"}`); !strings.Contains(said, `"isError":true`) || !strings.Contains(said, "answer of 65537 bytes, and at most 65536 bytes") {
		t.Errorf("one of a byte more is %.200s", said)
	}
	for origin, want := range map[string]int{"": 200, s.base: 200, "https://app.example.com": 200, "https://console.example.com": 403, "https://evil.example": 403, "null": 403} {
		r, err := http.NewRequest("POST", s.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, body := do(t, http.DefaultClient, r)
		if resp.StatusCode != want || resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("a page of %q gets %d %v %s, want %d", origin, resp.StatusCode, resp.Header, body, want)
		}
	}
	resp, _ := get(t, http.DefaultClient, s.base+"/api/console/capabilities", "Origin", "https://app.example.com")
	if resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the console shares with a page of the bus: %v", resp.Header)
	}
}
