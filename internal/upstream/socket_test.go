package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scripted is a service on a real socket. Each connection is served by the test's function.
func scripted(t *testing.T, serve func(net.Conn, *bufio.Reader)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

func client(t *testing.T, change func(*http.Transport)) *Transport {
	t.Helper()
	next := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
		DialContext: new(net.Dialer).DialContext}
	if change != nil {
		change(next)
	}
	transport := New(next)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func request(t *testing.T, ctx context.Context, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" { // without GetBody
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return r
}

// read sends a request and returns its answer's body.
func read(t *testing.T, transport http.RoundTripper, r *http.Request) (string, error) {
	t.Helper()
	res, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return string(all), err
}

const short = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// until polls for something that another goroutine brings about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("it never came: %s", what)
}

// silentOrNot waits until the one idle connection is as it is wanted.
func silentOrNot(t *testing.T, transport *Transport, want bool) {
	t.Helper()
	until(t, "what the service did", func() bool {
		transport.idle.mu.Lock()
		defer transport.idle.mu.Unlock()
		for _, s := range transport.idle.hosts {
			for _, c := range s.conns {
				if c.isSilent() == want {
					return true
				}
			}
		}
		return false
	})
}

func TestConnectionThatEndedIsNoticedBeforeARequestThatMayNotBeRepeated(t *testing.T) {
	var posts atomic.Int32
	url := scripted(t, func(c net.Conn, in *bufio.Reader) {
		if r, err := http.ReadRequest(in); err == nil {
			io.Copy(io.Discard, r.Body)
			posts.Add(1)
			io.WriteString(c, short)
		}
	})
	transport := client(t, nil)
	for i := range 20 {
		if got, err := read(t, transport, request(t, t.Context(), "POST", url, "x")); err != nil || got != "ok" {
			t.Fatalf("request %d: %q, %v", i+1, got, err)
		}
		silentOrNot(t, transport, false)
	}
	if posts.Load() != 20 {
		t.Errorf("%d requests came, want 20", posts.Load())
	}
}

func TestAnswerThatNobodyAskedForIsNobodys(t *testing.T) {
	const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
	var later atomic.Pointer[net.Conn]
	url := scripted(t, func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if r.URL.Path == "/now" {
				io.WriteString(c, short+poison)
			} else {
				later.Store(&c)
				io.WriteString(c, short)
			}
		}
	})
	transport := client(t, nil)
	for _, path := range []string{"/now", "/later", "/now", "/later", "/x"} {
		if got, err := read(t, transport, request(t, t.Context(), "GET", url+path, "")); err != nil || got != "ok" {
			t.Fatalf("%s: %q, %v", path, got, err)
		}
		if path == "/later" {
			silentOrNot(t, transport, true)
			io.WriteString(*later.Load(), poison)
			silentOrNot(t, transport, false)
		}
	}
}

func TestRequestIsRepeatedOnlyWhereTwiceIsOnce(t *testing.T) {
	for _, c := range []struct {
		method, body, key string
		used, answered    bool
		want              int32
	}{
		{"GET", "", "", true, true, 2}, {"GET", "", "", false, false, 1}, {"HEAD", "", "", true, true, 2},
		{"DELETE", "", "", true, false, 1}, {"POST", "", "", true, false, 1}, {"POST", "x", "", true, false, 1},
		{"POST", "", "Idempotency-Key", true, true, 2}, {"POST", "x", "Idempotency-Key", true, false, 1},
		{"PUT", "", "X-Idempotency-Key", true, true, 2},
	} {
		var came atomic.Int32
		url := scripted(t, func(conn net.Conn, in *bufio.Reader) {
			for {
				r, err := http.ReadRequest(in)
				switch {
				case err != nil:
					return
				case r.URL.Path == "/warm":
					io.WriteString(conn, short)
				case came.Add(1) == 1:
					conn.(*net.TCPConn).SetLinger(0)
					return
				default:
					io.WriteString(conn, strings.Replace(short, "ok", "", map[string]int{"HEAD": 1}[r.Method]))
				}
			}
		})
		transport := client(t, nil)
		if c.used {
			read(t, transport, request(t, t.Context(), "GET", url+"/warm", ""))
		}
		r := request(t, t.Context(), c.method, url+"/", c.body)
		if c.key != "" {
			r.Header.Set(c.key, "k")
		}
		if _, err := read(t, transport, r); (err == nil) != c.answered || came.Load() != c.want {
			t.Errorf("%+v: %v, %d requests came", c, err, came.Load())
		}
	}
}

func TestEndOfTheContextEndsACallAtOnce(t *testing.T) {
	gone := errors.New("gone")
	for _, where := range []string{"before the answer", "within the header", "within the body"} {
		reached, ended := make(chan bool, 1), make(chan bool, 1)
		url := scripted(t, func(c net.Conn, in *bufio.Reader) {
			http.ReadRequest(in)
			switch where {
			case "within the header":
				io.WriteString(c, short[:20])
			case "within the body":
				io.WriteString(c, short[:len(short)-1])
			}
			reached <- true
			c.Read(make([]byte, 1)) // returns when the client has closed
			ended <- true
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		end := func() {
			<-reached
			cancel(gone)
		}
		if where != "within the body" {
			go end()
		}
		res, err := client(t, nil).RoundTrip(request(t, ctx, "GET", url, ""))
		if err == nil {
			end()
			_, err = io.ReadAll(res.Body)
		}
		if err != gone {
			t.Errorf("%s: %v, want the cause", where, err)
		}
		<-ended
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := read(t, client(t, nil), request(t, ctx, "GET", "http://127.0.0.1:1", "")); err != gone {
		t.Errorf("a context that had ended: %v", err)
	}
}

func TestContextThatEndsLaterLeavesTheConnectionAlone(t *testing.T) {
	url := scripted(t, func(c net.Conn, in *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			io.WriteString(c, short)
		}
	})
	dials := 0
	transport := client(t, func(next *http.Transport) {
		next.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, address)
		}
	})
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		if got, err := read(t, transport, request(t, ctx, "GET", url, "")); err != nil || got != "ok" {
			t.Fatal(got, err)
		}
		cancel()
	}
	if dials != 1 {
		t.Errorf("%d connections were made, want 1", dials)
	}
}

func TestBodyThatIsClosedIsReadNoMore(t *testing.T) {
	ended := make(chan bool, 2)
	url := scripted(t, func(c net.Conn, in *bufio.Reader) {
		http.ReadRequest(in)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
		c.Read(make([]byte, 1))
		ended <- true
	})
	transport := client(t, nil)
	res, err := transport.RoundTrip(request(t, t.Context(), "GET", url, ""))
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := io.ReadAll(res.Body)
		failed <- err
	}()
	res.Body.Close()
	if err := <-failed; err == nil {
		t.Error("the read did not fail")
	}
	<-ended
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("Read() = %d, %v behind Close", n, err)
	}
	if len(transport.idle.hosts) != 0 {
		t.Error("the connection is kept")
	}
}

func TestWhatIsNotTakenHereGoesToNetHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Proto, " ", n, " ", r.TransferEncoding)
	}))
	defer server.Close()
	transport := client(t, nil)
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   string
	}{
		"a long body": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", maxBody+1))), maxBody+1
		}, "HTTP/1.1 16385 []"},
		"a body of unknown length": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("abc")), -1
		}, "HTTP/1.1 3 [chunked]"},
		"Expect": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("abc")), 3
			r.Header.Set("Expect", "100-continue")
		}, "HTTP/1.1 3 []"},
		"Connection":       {func(r *http.Request) { r.Header.Set("Connection", "x") }, "HTTP/1.1 0 []"},
		"the last request": {func(r *http.Request) { r.Close = true }, "HTTP/1.1 0 []"},
	} {
		r := request(t, t.Context(), "POST", server.URL, "")
		c.change(r)
		if got, err := read(t, transport, r); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if len(transport.idle.hosts) != 0 {
			t.Errorf("%s was sent here", name)
		}
	}
	for name, change := range map[string]func(*http.Transport){
		"a proxy":                func(n *http.Transport) { n.Proxy = http.ProxyFromEnvironment },
		"bounds of the host":     func(n *http.Transport) { n.MaxConnsPerHost = 5 },
		"a dialer of net/http's": func(n *http.Transport) { n.DialContext = nil },
		"no idle ones":           func(n *http.Transport) { n.DisableKeepAlives = true },
	} {
		transport := client(t, change)
		if got, err := read(t, transport, request(t, t.Context(), "GET", server.URL, "")); err != nil ||
			got != "HTTP/1.1 0 []" ||
			len(transport.idle.hosts) != 0 {
			t.Errorf("%s: %q, %v, kept here %t", name, got, err, len(transport.idle.hosts) != 0)
		}
	}
}

// TestNothingLeaks has many callers at a service that breaks many connections; some leave, and some do not read.
func TestNothingLeaks(t *testing.T) {
	var n atomic.Int64
	url := scripted(t, func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			id := r.URL.RawQuery
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(id), id)
			switch n.Add(1) % 7 {
			case 1:
				answer = fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(id), id)
			case 2:
				answer = "HTTP/1.1 100 Continue\r\n\r\n" + answer
			case 3:
				answer += "x"
			case 4:
				io.WriteString(c, answer)
				return
			case 5:
				answer = answer[:len(answer)-1]
				io.WriteString(c, answer)
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	})
	transport := client(t, nil)
	before := openFiles(t)
	goroutines := runtime.NumGoroutine()
	var callers sync.WaitGroup
	for caller := range 16 {
		callers.Go(func() {
			for i := range 200 {
				id := fmt.Sprintf("caller%d-%d", caller, i)
				ctx, cancel := context.WithCancel(t.Context())
				if i%10 == 0 {
					go cancel()
				}
				res, err := transport.RoundTrip(request(t, ctx, "GET", url+"/?"+id, ""))
				if err == nil && i%11 != 0 {
					if got, err := io.ReadAll(res.Body); err == nil && string(got) != id {
						t.Errorf("%s got the answer of %s", id, got)
					}
				}
				if err == nil {
					res.Body.Close()
				}
				cancel()
			}
		})
	}
	callers.Wait()
	transport.CloseIdleConnections()
	until(t, "the end of all goroutines and files", func() bool {
		return runtime.NumGoroutine() <= goroutines && openFiles(t) <= before
	})
}

func openFiles(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this machine does not say which files are open: ", err)
	}
	return len(files)
}
