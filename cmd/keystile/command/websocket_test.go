package command

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A WebSocket goes through all that stands before a room, and ends with the process.
func TestWebSocketReachesItsServiceAndEndsWithTheServer(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		io.Copy(conn, rw)
	}))
	defer upstream.Close()
	s := start(t, t.TempDir(), "--gateway-products", "svc="+upstream.URL)
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /svc/chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Authorization: Bearer "+ownToken(t, s)+"\r\n\r\n")
	in := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 101 {
		t.Fatalf("answered %v, %v", resp, err)
	}
	io.WriteString(conn, "hello")
	text := make([]byte, 5)
	if _, err := io.ReadFull(in, text); err != nil || string(text) != "hello" {
		t.Fatalf("read %q, %v", text, err)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	<-ended
	if rest, _ := io.ReadAll(in); len(rest) != 0 {
		t.Errorf("read %q", rest)
	}
	if log := s.log.String(); strings.Contains(log, "cut off") {
		t.Errorf("logged %s", log)
	}
}
