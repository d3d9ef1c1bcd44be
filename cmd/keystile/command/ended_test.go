package command

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// endless is a service whose calls end when somebody else ends them: a WebSocket, a stream of events, an upload.
func endless(t *testing.T) (at string, ended chan string) {
	ended = make(chan string, 16)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serveEndless(w, r)
		ended <- r.URL.Path
	}))
	t.Cleanup(upstream.Close)
	return upstream.URL, ended
}

func serveEndless(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/socket"):
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		io.Copy(conn, rw)
	case strings.HasSuffix(r.URL.Path, "/upload"):
		io.Copy(io.Discard, r.Body)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			io.WriteString(w, "data: hello\n\n")
			http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				tick.Stop()
				return
			}
		}
	}
}

// goingOn is a connection over which a call goes on.
type goingOn struct {
	net.Conn
	in *bufio.Reader
}

// goOn begins a call and waits until it has reached the service.
func goOn(t *testing.T, address, path, bearer string) goingOn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	g := goingOn{conn, bufio.NewReader(conn)}
	head := " " + path + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + bearer + "\r\n"
	switch {
	case strings.HasSuffix(path, "/socket"):
		io.WriteString(conn, "GET"+head+"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		g.want(t, "HTTP/1.1 101", "\r\n\r\n")
		io.WriteString(conn, "hello\n")
		g.want(t, "hello", "\n")
	case strings.HasSuffix(path, "/upload"):
		io.WriteString(conn, "POST"+head+"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
		g.want(t, "HTTP/1.1 100", "\r\n\r\n")
		go func() { // until it cannot be sent
			for err := error(nil); err == nil; _, err = io.WriteString(conn, "5\r\nhello\r\n") {
				time.Sleep(100 * time.Millisecond)
			}
		}()
	default:
		io.WriteString(conn, "GET"+head+"\r\n")
		g.want(t, "HTTP/1.1 200", "hello")
	}
	return g
}

// want reads until an end and wants a beginning.
func (g goingOn) want(t *testing.T, begin, end string) {
	t.Helper()
	g.SetReadDeadline(time.Now().Add(time.Minute))
	text := ""
	for !strings.HasSuffix(text, end) {
		b, err := g.in.ReadByte()
		if err != nil {
			t.Fatalf("read %q, %v", text, err)
		}
		text += string(b)
	}
	if !strings.HasPrefix(text, begin) {
		t.Fatalf("read %q, want %s", text, begin)
	}
}

// over waits until the call is over.
func (g goingOn) over(t *testing.T, what string) {
	t.Helper()
	g.SetReadDeadline(time.Now().Add(time.Minute))
	_, err := io.Copy(io.Discard, g.in)
	if late, ok := err.(net.Error); ok && late.Timeout() {
		t.Errorf("%s: it goes on", what)
	}
}

// Decision 98: package gateway proves that it takes ten seconds at most.
func TestCallEndsWithItsTokenWhateverItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for streams to end")
	}
	t.Parallel()
	upstream, ended := endless(t)
	s := start(t, t.TempDir(), "--gateway-products", "svc="+upstream)
	record := firstRunOf(t, s.data)
	app := record.App
	key := func(username string) map[string]any {
		must(t, "user", "create", "--username", username, "--password", "correct horse", "--data", s.data)
		return must(t, "apikey", "create", username, "--name", "k", "--scope", "openid tools", "--data", s.data)
	}
	revoked := func() (string, func()) {
		token := ownToken(t, s)
		return token, func() {
			post(t, s, "/oauth/revoke", url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret},
				"token": {token}})
		}
	}
	calls := map[string]goingOn{}
	for _, c := range []struct {
		name, path string
		open       func() (bearer string, end func())
	}{
		{"a WebSocket whose token is revoked", "/svc/socket", revoked},
		{"events whose token is revoked", "/svc/events", revoked},
		{"an upload whose token is revoked", "/svc/upload", revoked},
		{"a WebSocket whose application is disabled", "/svc/socket", func() (string, func()) {
			made := must(t, "app", "create", "--name", "Other", "--domain", "other.example.com", "--data", s.data)
			id := made["client_id"].(string)
			return machineToken(t, s, id, made["client_secret"].(string)), func() {
				must(t, "app", "set", id, "--disabled", "--data", s.data)
			}
		}},
		{"events whose application is removed", "/svc/events", func() (string, func()) {
			made := must(t, "app", "create", "--name", "Third", "--domain", "third.example.com", "--data", s.data)
			id := made["client_id"].(string)
			return machineToken(t, s, id, made["client_secret"].(string)),
				func() { must(t, "app", "delete", id, "--data", s.data) }
		}},
		{"a WebSocket whose API key is revoked", "/svc/socket", func() (string, func()) {
			made := key("ada")
			return made["key"].(string), func() { must(t, "apikey", "revoke", made["id"].(string), "--data", s.data) }
		}},
		{"events whose user has signed out everywhere", "/svc/events", func() (string, func()) {
			return key("bob")["key"].(string), func() { must(t, "session", "end", "bob", "--data", s.data) }
		}},
		{"a WebSocket whose user is disabled", "/svc/socket", func() (string, func()) {
			return key("eve")["key"].(string), func() { must(t, "user", "disable", "eve", "--data", s.data) }
		}},
	} {
		bearer, end := c.open()
		calls[c.name] = goOn(t, s.address, c.path, bearer)
		end()
	}
	for name, call := range calls {
		call.over(t, name)
		<-ended // at the service
	}

	short := start(t, t.TempDir(), "--gateway-products", "svc="+upstream, "--gateway-stream-life", "4s")
	token, paths := ownToken(t, short), []string{"/svc/socket", "/svc/events", "/svc/upload"}
	for _, path := range paths {
		calls[path] = goOn(t, short.address, path, token)
	}
	for _, path := range paths {
		calls[path].over(t, path+" with a life of 4s")
	}
}

// A service in the same program is told by its context, and is cut off if it does not listen.
func TestCallToAServiceInTheSameProgramEndsWithItsToken(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for streams to end")
	}
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	s, err := keystile.New(t.Context(), keystile.Config{BaseURL: base, Backend: memory.New(),
		MasterKey: storage.NewMasterKey(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.Handle("/svc/", s.Gateway.Guard(gateway.ProductAI, http.HandlerFunc(serveEndless)))
	server.Config.Handler = s
	server.Start()
	t.Cleanup(func() {
		server.Close()
		s.Close(context.Background())
	})
	app, err := s.Store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	calls, bearer := map[string]goingOn{}, machineToken(t, &service{address: server.Listener.Addr().String()}, app.ID,
		app.AppKey().Reveal())
	for _, path := range []string{"/svc/socket", "/svc/events", "/svc/upload"} {
		calls[path] = goOn(t, server.Listener.Addr().String(), path, bearer)
	}
	caller, err := s.Tokens.Verify(t.Context(), bearer)
	if err == nil {
		err = s.Tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: caller.TokenID,
			Before: time.Now().Add(time.Millisecond)})
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, call := range calls {
		call.over(t, path)
	}
}
