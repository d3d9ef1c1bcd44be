package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage/event"
)

// logged is a log that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func into(l *logged) func(*gateway.Config) {
	return func(c *gateway.Config) { c.Log = slog.New(slog.NewTextHandler(l, nil)) }
}

// call sends a request over a real connection.
func call(t *testing.T, method, url, bearer string, body io.Reader) *http.Response {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), method, url, body))(t)
	r.Header.Set("Authorization", "Bearer "+bearer)
	resp := must(http.DefaultClient.Do(r))(t)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Protocol 5: files are uploaded as multipart/form-data.
func TestLargeUploadIsHandedOnAsItComesAndNeverHeld(t *testing.T) {
	const size = 64 << 20
	h := newFixture(t)
	first, failed := make(chan struct{}), make(chan error, 1)
	user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		parts := must(r.MultipartReader())(t)
		file := must(parts.NextPart())(t)
		head := make([]byte, 1)
		if _, err := io.ReadFull(file, head); err != nil {
			failed <- err
		}
		close(first)
		n, err := io.Copy(io.Discard, file)
		fmt.Fprintf(w, "%s %d %v %d", file.FileName(), n+1, err, r.ContentLength)
	})
	server := h.open()
	body, in := io.Pipe()
	form := multipart.NewWriter(in)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		file, err := form.CreateFormFile("file", "large.bin")
		block := bytes.Repeat([]byte("x"), 1<<20)
		for sent := 0; sent < size && err == nil; sent += len(block) {
			if _, err = file.Write(block); sent == 0 {
				select { // what comes after it is not even made before the service has seen the first of it
				case <-first:
				case err = <-failed:
				case <-t.Context().Done():
					err = t.Context().Err()
				}
			}
		}
		in.CloseWithError(errors.Join(err, form.Close()))
	}()
	r := must(http.NewRequest("POST", server.URL+"/svc/files", body))(t)
	r.Header.Set("Authorization", "Bearer "+user)
	r.Header.Set("Content-Type", form.FormDataContentType())
	resp := must(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if want := fmt.Sprintf("large.bin %d <nil> -1", size); string(text) != want || err != nil {
		t.Errorf("the service read %q, %v; want %q", text, err, want)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > size/8 {
		t.Errorf("%d bytes were allocated for an upload of %d", took, size)
	}
}

func TestAnswerOfKnownLengthPassesAsItComesToo(t *testing.T) {
	h := newFixture(t)
	more := make(chan struct{})
	user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "6")
		io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		<-more
		io.WriteString(w, "two")
	})
	resp := call(t, "GET", h.open().URL+"/svc/x", user, nil)
	first := make([]byte, 3)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "one" || resp.ContentLength != 6 {
		t.Fatalf("%q, %v, of %d", first, err, resp.ContentLength)
	}
	close(more)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "two" {
		t.Errorf("%q, %v", rest, err)
	}
}

// Half an answer must not look like a whole one.
func TestServiceThatFailsWithinItsAnswerBreaksTheConnection(t *testing.T) {
	for name, length := range map[string]string{"of known length": "100", "in chunks": ""} {
		h := newFixture(t)
		user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
			if length != "" {
				w.Header().Set("Content-Length", length)
			}
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		_, in := raw(t, h.open().Listener.Addr().String(), "GET /svc/x HTTP/1.1\r\nHost: h\r\n"+
			"Authorization: Bearer "+user+"\r\n\r\n")
		if resp, err := http.ReadResponse(in, nil); err == nil { // else it was broken off before anything was sent
			if text, err := io.ReadAll(resp.Body); err == nil || !strings.HasPrefix("half", string(text)) {
				t.Errorf("an answer %s: %q, %v", name, text, err)
			}
		}
		if e := only(t, h); e.Status != 200 {
			t.Errorf("an answer %s is on the trail as %+v", name, e)
		}
	}
}

// only is the one call of a product on the trail, once it is written.
func only(t *testing.T, h *fixture) event.Event {
	t.Helper()
	var found []event.Event
	for _, e := range h.trail() {
		if e.Product == "svc" {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d calls on the trail: %+v", len(found), found)
	}
	return found[0]
}

func TestFailureIsLoggedWithTheRequestedPath(t *testing.T) {
	for status, edit := range map[int]func(*gateway.Upstream){
		502: func(u *gateway.Upstream) { u.URL = "http://127.0.0.1:1/base" },
		504: func(u *gateway.Upstream) { u.Timeout = 20 * time.Millisecond },
	} {
		var log logged
		h := newFixture(t, into(&log))
		user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, edit)
		h.want(h.call("POST", "/svc/a/b?token=SECRET", user), status, "a call")
		if text := log.String(); !strings.Contains(text, "path=/svc/a/b ") || !strings.Contains(text, "method=POST") ||
			strings.Contains(text, "SECRET") {
			t.Errorf("logged %s", text)
		}
	}
}

func TestClientThatGoesAwayIsNotTheServicesFailure(t *testing.T) {
	var log logged
	h := newFixture(t, into(&log))
	began, ended := make(chan struct{}), make(chan struct{})
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	server := h.open()
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-began; leave() }()
	r := must(http.NewRequestWithContext(ctx, "GET", server.URL+"/svc/x", nil))(t)
	r.Header.Set("Authorization", "Bearer "+user)
	if resp, err := http.DefaultClient.Do(r); err == nil {
		resp.Body.Close()
		t.Error("the client has not gone away")
	}
	<-ended
	server.Close() // waits for what is served
	if e := only(t, h); e.Status != 499 {
		t.Errorf("on the trail: %+v", e)
	}
	if text := log.String(); strings.Contains(text, "ERROR") {
		t.Errorf("logged %s", text)
	}
}

func TestClientThatLeavesWhileWaitingGetsNo503(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(http.ResponseWriter, *http.Request) {},
		func(u *gateway.Upstream) { u.PerSecond, u.MaxWait = 0.001, time.Hour })
	h.want(h.call("GET", "/svc/x", user), 200, "the call that takes the turn")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h.want(h.send(h.request("GET", "/svc/x", user, nil).WithContext(ctx)), 499, "a call of nobody")
}

func TestBodyThatEndsTooEarlyIsTheClientsFailure(t *testing.T) {
	var log logged
	h := newFixture(t, into(&log))
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	server := h.open()
	conn, in := raw(t, server.Listener.Addr().String(), "POST /svc/x HTTP/1.1\r\nHost: h\r\n"+
		"Authorization: Bearer "+user+"\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nthis is no chunk\r\n")
	defer conn.Close()
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 400 {
		t.Errorf("answered %d", resp.StatusCode)
	}
	server.Close()
	if e := only(t, h); e.Status != 400 || strings.Contains(log.String(), "ERROR") {
		t.Errorf("on the trail: %+v; logged %s", e, log.String())
	}
}

func TestServiceMayRefuseABodyBeforeItIsSent(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "100-continue" {
			t.Errorf("Expect: %q", r.Header.Get("Expect"))
		}
		w.WriteHeader(413)
	})
	_, in := raw(t, h.open().Listener.Addr().String(), "POST /svc/x HTTP/1.1\r\nHost: h\r\n"+
		"Authorization: Bearer "+user+"\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 413 {
		t.Errorf("answered %d, want 413 and no 100 before it", resp.StatusCode)
	}
}

func TestConnectionsToServicesEndWithTheGateway(t *testing.T) {
	h := newFixture(t)
	gone := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			close(gone)
		}
	}
	server.Start()
	h.svc = must(h.gateway.Proxy(gateway.Upstream{Product: "svc", URL: server.URL}))(t)
	h.want(h.call("GET", "/svc/x", h.userBearer()), 200, "a call")
	h.gateway.Close(t.Context())
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("a connection outlives the gateway")
	}
}
