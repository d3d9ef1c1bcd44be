package command

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

// A call may take 10 minutes and say nothing meanwhile, whatever limits.stream_idle is.
func TestAnswerThatTakesTenMinutesArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, stop := serveOver(t, 0, &config.Config{StreamIdle: time.Minute})
		defer stop()
		io.WriteString(near, "POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
		began := time.Now()
		if line, err := bufio.NewReader(near).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200") ||
			time.Since(began) != 10*time.Minute {
			t.Errorf("after %v it is answered %q, %v", time.Since(began), line, err)
		}
	})
}

// The whole way: a legacy client cancels a call in a request of its own, and the upstream
// sees the end of it, through the limits of connections and the gateway.
func TestCallIsCancelledAtItsUpstream(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(ended)
	}))
	defer upstream.Close()
	data := t.TempDir()
	s := start(t, data, "--upstreams-allow-private", "127.0.0.0/8")
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "capability", "register", "pets", "--upstream", upstream.URL, "--openapi", document, "--timeout", "10m",
		"--data", data)
	if shown := must(t, "capability", "show", "pets", "--data", data); shown["timeout"] != 600.0 {
		t.Errorf("shown is %v", shown)
	}
	record := firstRunOf(t, data)
	token := machineToken(t, s, record.App.ClientID, record.App.ClientSecret)
	session := ""
	post := func(body string) (*http.Response, string) {
		r, err := http.NewRequest("POST", s.base+"/api/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Authorization": {"Bearer " + token}, "Mcp-Session-Id": {session}}
		return do(t, http.DefaultClient, r)
	}
	first, _ := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	if session = first.Header.Get("Mcp-Session-Id"); session == "" {
		t.Fatalf("initialize = %d %v", first.StatusCode, first.Header)
	}
	cancelled := make(chan string, 1)
	go func() {
		_, text := post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pets__getPet","arguments":{"id":7}}}`)
		cancelled <- text
	}()
	for _, sign := range []chan struct{}{arrived, ended} {
		select {
		case <-sign:
		case <-time.After(20 * time.Second):
			t.Fatal("the upstream saw no call, or not its end")
		}
		post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}
	if text := <-cancelled; text != ": cancelled\n\n" {
		t.Errorf("a cancelled call is answered %q", text)
	}
	s.stop()
	if code, trail, _ := command(t, "", "audit", "export", "--kind", "tool", "--data", data); code != 0 || strings.Count(trail, `"status":499`) != 1 || strings.Contains(trail, session) {
		t.Errorf("the trail has %s", trail)
	}
}
