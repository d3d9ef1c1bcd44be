package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestSettingsOfTheBusReachIt(t *testing.T) {
	held, hold := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			held <- struct{}{}
			<-hold
		}
		size := 64 << 10
		if r.URL.Path == "/over" {
			size++
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Write([]byte(strings.Repeat("x", size)))
	}))
	t.Cleanup(upstream.Close)
	s := start(t, t.TempDir(), "--upstreams-allow-private", "127.0.0.0/8", "--bus-page-size", "2", "--bus-max-answer",
		"64KiB", "--bus-max-name", "40", "--bus-per-caller", "1",
		"--bus-origins", "https://app.example.com", "--cors-origins", "https://console.example.com")
	registered(t, s, `{"member":"m","upstream_url":"`+upstream.URL+`","openapi":{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}},"/over":{"get":{"operationId":"over"}},"/z":{"get":{"operationId":"z"}}}}}`, 200)
	registered(t, s, `{"member":"held","upstream_url":"`+upstream.URL+
		`","openapi":{"openapi":"3.0.3","paths":{"/held":{"get":`+
		`{"operationId":"aNameOfWhichClientsWantAFewCharactersLess"}}}}}`, 200)
	token := ownToken(t, s)
	const short = "held__aNameOfWhichClientsW_"
	list := speak(t, s, token, "tools/list", "")
	if _, name, found := strings.Cut(list, `"name":"`+short); !found || strings.IndexByte(name, '"') != 40-len(short) {
		t.Errorf("with names of 40 characters the first page is %s", list)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.base+"/api/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
			`"params":{"name":"held__aNameOfWhichClientsWantAFewCharactersLess"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	<-held
	if said := speak(t, s, token, "tools/call", `{"name":"m__a"}`); !strings.Contains(said, `"isError":true`) ||
		!strings.Contains(said, "at a time (1)") {
		t.Errorf("a second call at the same time is %.200s", said)
	}
	close(hold)
	<-over
	if !strings.Contains(list, `"nextCursor":"m__a"`) || strings.Contains(list, "m__z") {
		t.Errorf("with pages of 2 the first is %s", list)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"m__a"}`); strings.Contains(said, "isError") || strings.Count(said, "x") < 64<<10 {
		t.Errorf("an answer as large as may be is %.200s", said)
	}
	if said := speak(t, s, token, "tools/call", `{"name":"m__over"}`); !strings.Contains(said, `"isError":true`) || !strings.Contains(said, "answer of 65537 bytes, and at most 65536 bytes") {
		t.Errorf("one of a byte more is %.200s", said)
	}
	for origin, want := range map[string]int{"": 200, s.base: 200, "https://app.example.com": 200,
		"https://console.example.com": 403, "https://evil.example": 403, "null": 403} {
		r, err := http.NewRequest("POST", s.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, body := do(t, http.DefaultClient, r)
		if resp.StatusCode != want || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
			resp.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("a page of %q gets %d %v %s, want %d", origin, resp.StatusCode, resp.Header, body, want)
		}
	}
	resp, _ := get(t, http.DefaultClient, s.base+"/api/console/capabilities", "Origin", "https://app.example.com")
	if resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the console shares with a page of the bus: %v", resp.Header)
	}
}

func TestBusAnswersUnderItsPathWithASlashToo(t *testing.T) {
	s := start(t, t.TempDir())
	token := ownToken(t, s)
	for _, path := range []string{"/api/mcp", "/api/mcp/b/none"} {
		var answers [2]string
		for i, slash := range []string{"", "/"} {
			r, err := http.NewRequest("POST", s.base+path+slash,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			resp, body := do(t, http.DefaultClient, r)
			challenge, _ := get(t, http.DefaultClient, s.base+path+slash)
			document, text := get(t, http.DefaultClient, s.base+"/.well-known/oauth-protected-resource"+path+slash)
			answers[i] = fmt.Sprint(resp.StatusCode, body, challenge.StatusCode,
				challenge.Header.Get("WWW-Authenticate"), document.StatusCode, text)
		}
		if answers[0] != answers[1] || !strings.Contains(answers[0], "401Bearer resource_metadata=") ||
			!strings.Contains(answers[0], `"resource":"`+s.base+path+`"`) {
			t.Errorf("%s is answered\n%s\nand with a slash\n%s", path, answers[0], answers[1])
		}
	}
}
