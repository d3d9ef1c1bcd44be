package plainhttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// serving is a server at an address of this machine, and what it logs.
type serving struct {
	address string
	log     *lines
	plain   *Server // nil: net/http serves alone
}

// lines is a log for two goroutines.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serveBoth serves a handler by net/http alone and by a Server, until the test ends.
func serveBoth(t testing.TB, h http.Handler) (reference, plain serving) {
	return serve(t, &http.Server{Handler: h}, false), serve(t, &http.Server{Handler: h}, true)
}

func serve(t testing.TB, s *http.Server, plain bool) serving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := serving{address: l.Addr().String(), log: &lines{}}
	s.ErrorLog = log.New(v.log, "", 0)
	run, stop := s.Serve, s.Close
	if plain {
		v.plain = New(s)
		run, stop = v.plain.Serve, v.plain.Close
	}
	ended := make(chan error, 1)
	go func() { ended <- run(l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve() = %v", err)
		}
	})
	return v
}

// last is a request whose answer is the last one of a connection.
const last = "GET /last HTTP/1.0\r\nHost: h\r\n\r\n"

// say sends bytes and returns all that is answered until the server closes the connection. If the last request does not
// end it, the client says that it has said all, which some handlers take for leaving.
func (v serving) say(t testing.TB, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		io.WriteString(c, text) // a server that has closed the connection has answered
		if !strings.HasSuffix(text, last) {
			c.(*net.TCPConn).CloseWrite()
		}
	}()
	answer, err := io.ReadAll(c)
	<-sent
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Fatalf("%.100q: the connection is not closed after %q", text, answer)
	}
	return sameDate.ReplaceAllString(string(answer), "Date: now")
}

var sameDate = regexp.MustCompile(`(?i)date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`)

// post is a request with a body of n bytes.
func post(n int) string {
	return fmt.Sprintf("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", n, strings.Repeat("x", n))
}

// shapes are requests that each behaviour is asked with, by name.
var shapes = map[string]string{
	"GET":       "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"HEAD":      "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"two":       "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
	"POST":      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcdeGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
	"kept":      "GET /a HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
	"POST 100k": post(100_000) + "GET /b HTTP/1.1\r\nHost: h\r\n\r\n",
	"POST 300k": post(300_000) + "GET /b HTTP/1.1\r\nHost: h\r\n\r\n",
	"cut":       "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nabc",
	"other":     "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
}

// The handlers do everything that handlers do with an answer, and the clients read the same bytes.
func TestAnswersHaveTheSameBytesAsThoseOfNetHTTP(t *testing.T) {
	for name, h := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reference, plain := serveBoth(t, h)
			for shape, text := range shapes {
				if shape != "cut" {
					text += last
				}
				want, got := reference.say(t, text), plain.say(t, text)
				if got != want {
					t.Errorf("%s is answered\n%.2000q\nand by net/http\n%.2000q", shape, got, want)
				}
			}
			if got, want := said(plain.log), said(reference.log); got != want {
				t.Errorf("the log has\n%s\nand that of net/http\n%s", got, want)
			}
		})
	}
}

// said returns what a log says, without what differs from one connection to the other.
func said(l *lines) string {
	var kept []string
	for line := range strings.Lines(l.String()) {
		if strings.HasPrefix(line, "http: ") {
			kept = append(kept, clientPort.ReplaceAllString(line, "127.0.0.1:0"))
		}
	}
	return strings.Join(kept, "")
}

var clientPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// The conversation is the one that net/http has, over any bytes.
func FuzzConversationIsThatOfNetHTTP(f *testing.F) {
	for _, text := range plain {
		f.Add([]byte(text + shapes["two"]))
	}
	for _, text := range otherwise {
		f.Add([]byte(shapes["POST"] + text))
	}
	reference, plain := serveBoth(f, http.HandlerFunc(describe))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 8<<10 || bytes.Contains(b, []byte("HTTP/2.0")) {
			return
		}
		if want, got := reference.say(t, string(b)), plain.say(t, string(b)); got != want {
			t.Errorf("%q is answered\n%q\nand by net/http\n%q", b, got, want)
		}
	})
}

func TestConversationsThatAreNotPlainAreThoseOfNetHTTP(t *testing.T) {
	reference, plain := serveBoth(t, http.HandlerFunc(describe))
	for why, text := range otherwise {
		for _, before := range []string{"", shapes["GET"], shapes["POST"]} {
			if want, got := reference.say(t, before+text), plain.say(t, before+text); got != want {
				t.Errorf("%s: answered\n%q\nand by net/http\n%q", why, got, want)
			}
		}
	}
}

// A certificate is checked and a protocol is chosen by net/http, so what TLS carries is its own.
func TestConnectionsOfTLSAreLeftToNetHTTP(t *testing.T) {
	lent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, hijacks := w.(http.Hijacker) // the writers of this package do not
		fmt.Fprint(w, r.TLS != nil, " ", hijacks)
	}))
	lent.StartTLS() // for its certificate and its client
	defer lent.Close()
	s := New(&http.Server{Handler: lent.Config.Handler})
	l, err := tls.Listen("tcp", "127.0.0.1:0", lent.TLS)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	defer s.Close()
	a, err := lent.Client().Get("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if body, err := io.ReadAll(a.Body); string(body) != "true true" || err != nil {
		t.Errorf("a request over TLS has TLS and can be hijacked: %s, %v", body, err)
	}
}

func TestServeEndsWhenTheServerIsShutDown(t *testing.T) {
	v := serve(t, &http.Server{Handler: http.HandlerFunc(describe)}, true)
	idle, err := net.Dial("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := io.WriteString(idle, shapes["GET"]); err != nil {
		t.Fatal(err)
	}
	readAnswer(t, idle)
	if err := v.plain.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown() = %v", err)
	}
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection says %d bytes, %v", n, err)
	}
	if _, err := net.Dial("tcp", v.address); err == nil {
		t.Error("a connection is accepted after Shutdown")
	}
}

func TestShutdownWaitsForAnswersAndClosesTheirConnections(t *testing.T) {
	begun, go_ := make(chan struct{}), make(chan struct{})
	v := serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-go_
		describe(w, r)
	})}, true)
	c, err := net.Dial("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, shapes["GET"]); err != nil {
		t.Fatal(err)
	}
	<-begun
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.plain.Shutdown(short); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown() = %v while a request is answered", err)
	}
	over := make(chan error, 1)
	go func() { over <- v.plain.Shutdown(t.Context()) }()
	close(go_)
	text, err := io.ReadAll(c)
	if err != nil || !strings.Contains(string(text), "Connection: close") {
		t.Errorf("answered %q, %v", text, err)
	}
	if err := <-over; err != nil {
		t.Errorf("Shutdown() = %v", err)
	}
}

// readAnswer reads an answer of describe, which has its length in its last line.
func readAnswer(t *testing.T, c net.Conn) string {
	t.Helper()
	var all []byte
	for b := make([]byte, 4096); !strings.HasSuffix(string(all), "over.\n"); {
		n, err := c.Read(b)
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		all = append(all, b[:n]...)
	}
	return string(all)
}
