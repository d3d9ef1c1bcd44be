package plainhttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/ticks"
)

// bubble is a server in a time of its own. Its connections are pipes.
type bubble struct {
	t      *testing.T
	plain  *Server
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
	ended  chan error
}

func (b *bubble) Accept() (net.Conn, error) {
	select {
	case c := <-b.dialed:
		return c, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

func (b *bubble) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func (b *bubble) Addr() net.Addr { return &net.TCPAddr{} }

func newBubble(t *testing.T, s *http.Server) *bubble {
	return &bubble{t: t, plain: New(s), dialed: make(chan net.Conn), closed: make(chan struct{}),
		ended: make(chan error, 1)}
}

func inBubble(t *testing.T, s *http.Server, test func(*bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, s)
		go func() { b.ended <- b.plain.Serve(b) }()
		test(b)
		b.plain.Close()
		if err := <-b.ended; err != http.ErrServerClosed {
			t.Errorf("Serve() = %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(b.plain.conns); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

// client is the other side of a connection.
type client struct {
	net.Conn
	t    *testing.T
	read *bufio.Reader
}

func (b *bubble) dial() *client {
	near, far := net.Pipe()
	b.dialed <- far
	return &client{near, b.t, bufio.NewReader(near)}
}

func (c *client) send(text string) {
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.t.Errorf("sending %.40q: %v", text, err)
	}
}

func (c *client) answer() (body string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.read, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	return string(text)
}

// closedAfter waits for the end of the connection and says when it came.
func (c *client) closedAfter() time.Duration {
	began := time.Now()
	io.Copy(io.Discard, c.read)
	return time.Since(began)
}

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

func ok(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }

// limited returns a server with the times of the program's.
func limited() *http.Server {
	return &http.Server{ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, Handler: http.HandlerFunc(ok)}
}

func TestConnectionsAreClosedAfterTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		first, then string // sent at once, and sent after 4 seconds
		want        time.Duration
	}{
		"that says nothing":                        {"", "", 5 * time.Second},
		"with half a head":                         {"GET / HTTP/1.1\r\n", "", 5 * time.Second},
		"with half a head, begun late":             {"", "GET / HTTP/1.1\r\n", 5 * time.Second},
		"idle":                                     {get, "", 2 * time.Minute},
		"idle again":                               {get, get, 2*time.Minute + 4*time.Second},
		"with half a second head":                  {get, "GET", 9 * time.Second},
		"of net/http, idle":                        {"GET / HTTP/1.1\r\nHost: h\r\nX: \t\r\n\r\n", "", 2 * time.Minute},
		"of net/http, then with half a head":       {"GET / HTTP/1.1\r\nHost: h\r\nX: \t\r\n\r\n", "GET ", 9 * time.Second},
		"with a head that comes in two, then idle": {get[:20], get[20:], 4*time.Second + 2*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := limited()
			inBubble(t, s, func(b *bubble) {
				began, c0 := time.Now(), b.dial()
				go func() {
					io.WriteString(c0, c.first)
					time.Sleep(4 * time.Second)
					io.WriteString(c0, c.then)
				}()
				c0.closedAfter()
				if got := time.Since(began); got != c.want {
					t.Errorf("closed after %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestTimesOfTheServerHoldForRequestsAndAnswers(t *testing.T) {
	read := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		fmt.Fprint(w, err != nil)
	})
	inBubble(t, &http.Server{Handler: read, ReadTimeout: 3 * time.Second}, func(b *bubble) {
		began, c := time.Now(), b.dial()
		c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf")
		if body := c.answer(); body != "true" || time.Since(began) != 3*time.Second {
			t.Errorf("answered %s after %v", body, time.Since(began))
		}
	})
	large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) })
	inBubble(t, &http.Server{Handler: large, WriteTimeout: 3 * time.Second}, func(b *bubble) {
		began, c := time.Now(), b.dial()
		c.send(get)
		synctest.Wait()
		time.Sleep(4 * time.Second)
		if c.closedAfter(); time.Since(began) != 4*time.Second {
			t.Errorf("closed after %v", time.Since(began))
		}
	})
}

func TestHandlerLearnsThatItsClientLeft(t *testing.T) {
	for name, request := range map[string]string{
		"without a body":   get,
		"with a body":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody",
		"after another":    get + get,
		"with half a body": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\nbody",
	} {
		t.Run(name, func(t *testing.T) {
			first, told := strings.Count(request, "GET") == 2, make(chan time.Time, 1)
			s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if first {
					first = false
					return
				}
				io.ReadAll(r.Body)
				<-r.Context().Done()
				told <- time.Now()
			})}
			inBubble(t, s, func(b *bubble) {
				c := b.dial()
				go io.Copy(io.Discard, c.read)
				c.send(request)
				time.Sleep(time.Minute)
				left := time.Now()
				c.Close()
				if late := (<-told).Sub(left); late > 2*ticks.Every {
					t.Errorf("told %v late", late)
				}
			})
		})
	}
}

// The read that notices a client that leaves may get its next request.
func TestRequestThatComesWhileAnotherIsAnsweredIsNotLost(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		if r.Context().Err() != nil {
			t.Error("the request has ended")
		}
		io.WriteString(w, r.RequestURI)
	})}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		c.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
		for i := range 5 {
			time.Sleep(500 * time.Millisecond)
			c.send(fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: h\r\n\r\n", i+2))
			if got := c.answer(); got != fmt.Sprint("/", i+1) {
				t.Errorf("answered %q, want that of /%d", got, i+1)
			}
		}
	})
}

// A read that waits for the client to leave ends with the answer, and is no deadline for what comes next.
func TestConnectionIsUsedOnAfterALongAnswer(t *testing.T) {
	s := limited()
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(10 * time.Minute)
		io.Copy(w, r.Body)
	})
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		for range 2 {
			c.send(get)
			c.answer()
			time.Sleep(time.Minute)
			c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo")
			time.Sleep(time.Minute)
			c.send("dy")
			if got := c.answer(); got != "body" {
				t.Errorf("answered %q", got)
			}
		}
	})
}

func TestQuietServerDoesNotTick(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			<-r.Context().Done()
		}
	})}
	inBubble(t, s, func(b *bubble) {
		c, long := b.dial(), b.dial()
		c.send(get)
		c.answer()
		long.send("PUT / HTTP/1.1\r\nHost: h\r\n\r\n")
		time.Sleep(3 * ticks.Every)
		if !b.plain.watched.Idle() {
			t.Error("connections are looked at")
		}
		c.send(get)
		c.answer()
		long.Close()
	})
}

// Old clients send a line end after the body of a POST, and it may come alone.
func TestLineEndsAfterAPostAreSkipped(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
	for name, c := range map[string]struct {
		texts []string
		want  int // answers
	}{
		"at once":           {[]string{post + "\r\n" + get}, 2},
		"alone":             {[]string{post + "\r\n", get}, 2},
		"two":               {[]string{post, "\r\n", "\r\n", get}, 2},
		"before net/http's": {[]string{post + "\r\n", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}, 2},
		"five":              {[]string{post + "\r\n\r\n\r\n" + get}, 1},
		"after a GET":       {[]string{get + "\r\n" + get}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := limited()
			inBubble(t, s, func(b *bubble) {
				conn := b.dial()
				go func() {
					for _, text := range c.texts {
						io.WriteString(conn, text)
						time.Sleep(time.Second)
					}
				}()
				all, _ := io.ReadAll(conn.read)
				if got := strings.Count(string(all), "200 OK"); got != c.want {
					t.Errorf("%d answers: %q", got, all)
				}
			})
		})
	}
}

func TestHooksSeeWhatNetHTTPShowsThem(t *testing.T) {
	type name struct{}
	var mu sync.Mutex
	var states []string
	s := &http.Server{
		BaseContext: func(net.Listener) context.Context { return context.WithValue(context.Background(), name{}, "base") },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, name{}, fmt.Sprint(ctx.Value(name{}), " ", c != nil))
		},
		ConnState: func(_ net.Conn, to http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			states = append(states, to.String())
		},
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		fmt.Fprint(w, ctx.Value(name{}), " ", ctx.Value(http.ServerContextKey) == s, " ",
			ctx.Value(http.LocalAddrContextKey), " ", r.RemoteAddr)
	})
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		for range 2 {
			c.send(get)
			if got := c.answer(); got != "base true true pipe pipe" {
				t.Errorf("the handler sees %s", got)
			}
		}
		c.Close()
		synctest.Wait()
		mu.Lock()
		want := []string{"new", "active", "idle", "active", "idle", "closed"}
		if !slices.Equal(states, want) {
			t.Errorf("the states are %v, want %v", states, want)
		}
		states = nil
		mu.Unlock()
		c = b.dial()
		c.send(get)
		c.answer()
		c.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		c.answer()
		c.closedAfter()
		synctest.Wait()
		want = []string{"new", "active", "idle", "active", "new", "active", "closed"}
		if !slices.Equal(states, want) {
			t.Errorf("of a connection that is handed on the states are %v, want %v", states, want)
		}
	})
}

// The listener of the program says so when it has been closed with nobody lost; those who are connected go on.
func TestConnectionsAreServedOnAfterTheLastOne(t *testing.T) {
	s := limited()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, s)
		over := make(chan struct{})
		go func() { b.ended <- b.plain.Serve(lastOf{b, over}) }()
		c := b.dial()
		close(over)
		synctest.Wait()
		c.send(get)
		c.answer()
		c.send("GET / HTTP/1.1\r\nHost: h\r\nX: \t\r\n\r\n")
		c.answer()
		if err := b.plain.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-b.ended; err != http.ErrServerClosed {
			t.Errorf("Serve() = %v", err)
		}
		c.closedAfter()
	})
}

// lastOf ends as the program's listener does.
type lastOf struct {
	*bubble
	over chan struct{}
}

func (l lastOf) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.over:
		return nil, http.ErrServerClosed
	}
}

func TestListenersErrorEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, &http.Server{})
		b.Close()
		if err := b.plain.Serve(b); err != net.ErrClosed {
			t.Errorf("Serve() = %v", err)
		}
	})
}

func TestAnswerIsOverWithItsHandler(t *testing.T) {
	var kept http.ResponseWriter
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { kept = w })}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		c.send(get)
		c.answer()
		control := http.NewResponseController(kept)
		_, err := kept.Write([]byte("late"))
		for call, err := range map[string]error{"Write": err, "Flush": control.Flush(),
			"SetReadDeadline":  control.SetReadDeadline(time.Unix(1, 0)),
			"SetWriteDeadline": control.SetWriteDeadline(time.Unix(1, 0))} {
			if err != errOver {
				t.Errorf("%s says %v", call, err)
			}
		}
		c.send(get)
		c.answer()
	})
}

func TestDeadlinesOfAHandlerEndWithIt(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if control := http.NewResponseController(w); r.URL.Path != "/later" {
			if err := control.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
				t.Error(err)
			}
			if err := control.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
				t.Error(err)
			}
		}
		_, err := io.ReadAll(r.Body)
		fmt.Fprint(w, err)
	})}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		for _, path := range []string{"/", "/later", "/", "/"} {
			c.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")
			if got := c.answer(); got != "<nil>" {
				t.Errorf("answered %q", got)
			}
			time.Sleep(time.Minute)
		}
		c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo")
		if n := c.closedAfter(); n != time.Second {
			t.Errorf("closed after %v, want the handler's second", n)
		}
	})
}

// The rest of an answer is not sent behind a part that was not.
func TestConnectionEndsWithAWriteThatFails(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
	})}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		c.send(get)
		if n := c.closedAfter(); n != 0 {
			t.Errorf("closed after %v, want at once", n)
		}
	})
}

func TestDateIsThatOfTheAnswer(t *testing.T) {
	inBubble(t, &http.Server{Handler: http.HandlerFunc(ok)}, func(b *bubble) {
		c := b.dial()
		for range 3 {
			c.send(get)
			r, err := http.ReadResponse(c.read, nil)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, r.Body)
			if got, want := r.Header.Get("Date"), time.Now().UTC().Format(http.TimeFormat); got != want {
				t.Errorf("Date: %s, want %s", got, want)
			}
			time.Sleep(1500 * time.Millisecond)
		}
	})
}

// net/http panics over such a handler, so this is held against what should be.
func TestBodyThatIsLeftByADuplexHandlerIsNoRequest(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		fmt.Fprint(w, r.Method)
	})}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		c.send(post(300) + get)
		if first, second := c.answer(), c.answer(); first != "POST" || second != "GET" {
			t.Errorf("answered %q and %q", first, second)
		}
		c.send(post(mostDropped + mostRead)[:mostRead])
		if answer := c.answer(); answer != "POST" {
			t.Errorf("answered %q", answer)
		}
		if n := c.closedAfter(); n != lastRead {
			t.Errorf("closed after %v, want %v: the body is too long to be read in vain", n, lastRead)
		}
	})
}

func TestShutdownWaitsForAHandler(t *testing.T) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(time.Minute) })}
	inBubble(t, s, func(b *bubble) {
		c := b.dial()
		c.send(get)
		synctest.Wait()
		began := time.Now()
		go io.Copy(io.Discard, c.read)
		if err := b.plain.Shutdown(b.t.Context()); err != nil || time.Since(began) != time.Minute {
			t.Errorf("Shutdown() = %v after %v, want nil after the minute of the handler", err, time.Since(began))
		}
	})
}

// A listener may have accepted a connection while the server was closed.
func TestConnectionThatComesBehindCloseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, &http.Server{Handler: http.HandlerFunc(ok)})
		b.plain.Close()
		near, far := net.Pipe()
		b.plain.begin(t.Context(), far, nil)
		if _, err := near.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("Read() = %v, want the end", err)
		}
	})
}
