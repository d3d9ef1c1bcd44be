package command

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A balancer asks whether a node is ready, and must have time to hear that it is not any more.
func TestNodeThatStopsIsNotReadyFirstAndServesUntilThen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	s := start(t, t.TempDir(), "--drain", "3s")
	s.expected = "/healthz/ready"
	url := "http://" + s.address
	if resp, _ := get(t, http.DefaultClient, url+"/healthz/ready"); resp.StatusCode != 200 || resp.Close {
		t.Fatalf("before: %d, closed %t", resp.StatusCode, resp.Close)
	}
	s.cancel()
	s.log.Find(t, s.ended, "not ready any more")
	resp, body := get(t, http.DefaultClient, url+"/healthz/ready")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, "stops soon") {
		t.Errorf("ready says %d %s", resp.StatusCode, body)
	}
	for path, want := range map[string]int{"/healthz/live": 200, "/.well-known/openid-configuration": 200,
		"/oauth/userinfo": 401, "/api/mcp": 401, "/nothing": 404} {
		if resp, _ := get(t, http.DefaultClient, url+path); resp.StatusCode != want || !resp.Close {
			t.Errorf("%s is answered %d meanwhile, and the connection is closed: %t", path, resp.StatusCode, resp.Close)
		}
	}
	if resp, _ := post(t, s, "/oauth/signin", nil); resp.StatusCode != 400 || !resp.Close {
		t.Errorf("a form is answered %d meanwhile, and the connection is closed: %t", resp.StatusCode, resp.Close)
	}
	<-s.ended
	if s.code != 0 {
		t.Errorf("it exits %d: %s", s.code, s.log)
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Error("it still serves")
	}
}

func TestFailureEndsANodeThatDrains(t *testing.T) {
	t.Parallel()
	left := false
	s := servers{log: slog.New(slog.DiscardHandler), drain: time.Hour, leave: func() { left = true }}
	failures := make(chan error, 1)
	failures <- http.ErrAbortHandler
	s.leaveFirst(failures)
	if err := <-failures; !left || err != http.ErrAbortHandler {
		t.Errorf("left %t, and the failure is %v", left, err)
	}
}

func TestWebSocketIsNotClosedByAHeader(t *testing.T) {
	t.Parallel()
	var leaving atomic.Bool
	h := closing(&leaving, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	said := func(upgrade string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Upgrade", upgrade)
		h.ServeHTTP(w, r)
		return w.Header().Get("Connection")
	}
	if got := said(""); got != "" {
		t.Errorf("while it serves: %q", got)
	}
	leaving.Store(true)
	if got := said(""); got != "close" {
		t.Errorf("while it drains: %q", got)
	}
	if got := said("websocket"); got != "" {
		t.Errorf("an upgrade while it drains: %q", got)
	}
}
