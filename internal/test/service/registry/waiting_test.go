package registry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage"
)

// body is a body whose first byte comes when it is sent, and that knows whether it was read.
type body struct {
	send  chan struct{}
	asked chan struct{} // closed at the first Read
	read  atomic.Bool
	text  io.Reader
}

func newBody(text string) *body {
	return &body{send: make(chan struct{}), asked: make(chan struct{}), text: strings.NewReader(text)}
}

func (b *body) Read(p []byte) (int, error) {
	if !b.read.Swap(true) {
		close(b.asked)
	}
	<-b.send
	return b.text.Read(p)
}

// Of a user one document is read into memory at a time, whichever endpoint it is for.
func TestBodyThatWaitsIsNotInMemory(t *testing.T) {
	h := newFixture(t)
	mina, omar := h.user("mina", storage.RoleDeveloper), h.user("omar", storage.RoleDeveloper)
	minas, omars := h.visitor(mina), h.visitor(omar)
	post := func(ctx context.Context, endpoint, cookie string, b *body) (*httptest.ResponseRecorder, chan struct{}) {
		w, done := httptest.NewRecorder(), make(chan struct{})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, base+all+endpoint, b)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", cookie)
		go func() { defer close(done); h.registry.ServeHTTP(w, r) }()
		return w, done
	}
	first := newBody(standard("one", "a"))
	w, answered := post(t.Context(), "/preview", minas, first)
	<-first.asked
	ctx, cancel := context.WithCancel(t.Context())
	var waiting []*body
	var ended []chan struct{}
	for _, endpoint := range []string{"/preview", "/register", "/preview"} {
		b := newBody(standard("two", "a"))
		close(b.send)
		_, done := post(ctx, endpoint, minas, b)
		waiting, ended = append(waiting, b), append(ended, done)
	}
	other := newBody(standard("three", "a"))
	close(other.send)
	if w, done := post(t.Context(), "/register", omars, other); true {
		<-done
		if w.Code != 200 {
			t.Errorf("another user's registration = %d %s, want 200", w.Code, w.Body)
		}
	}
	cancel()
	for i, done := range ended {
		<-done
		if waiting[i].read.Load() {
			t.Errorf("the body of request %d was read while another one of its user was", i)
		}
	}
	close(first.send)
	<-answered
	if w.Code != 200 {
		t.Errorf("the first = %d %s, want 200", w.Code, w.Body)
	}
}
