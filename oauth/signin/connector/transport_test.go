package connector

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// served is a wx whose token endpoint is a real server.
func served(t *testing.T, client *http.Client, h http.HandlerFunc) Connector {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := NewWX(WX{ID: ids["wx"], Secret: storage.NewSecret(secret), Client: client, TokenURL: s.URL + "/token",
		UserURL: s.URL + "/user"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantTrouble(t *testing.T, c Connector, code string) {
	t.Helper()
	p, err := c.Finish(t.Context(), back, returned(c.Name()))
	if trouble := new(Trouble); !errors.As(err, &trouble) || trouble.Code != code || p.Subjects != nil {
		t.Errorf("Finish = %v, %v, want a Trouble with code %q", p, err, code)
	}
}

// The next place would get the secret, whoever's client it is.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for what, client := range map[string]*http.Client{"our own": nil, "a given one": {}} {
		var elsewhere atomic.Int32
		c := served(t, client, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/token" {
				elsewhere.Add(1)
			}
			http.Redirect(w, r, "/elsewhere?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
		})
		wantTrouble(t, c, "http 307")
		if elsewhere.Load() > 0 {
			t.Errorf("%s follows redirects", what)
		}
		if client != nil && client.CheckRedirect != nil {
			t.Error("the host's client was changed")
		}
	}
}

func TestUnexpectedAnswerIsATrouble(t *testing.T) {
	for status, body := range map[int]string{
		500: `{"errcode":40163}`, 502: "<html>", 503: "", 404: "nothing", 403: `{"access_token":"t","openid":"o1"}`, 201: `{"access_token":"t","openid":"o1"}`, 204: "",
	} {
		c := served(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
		wantTrouble(t, c, "http "+strconv.Itoa(status))
	}
	c := served(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	})
	wantTrouble(t, c, "")
}

func TestAnswerOfMoreThanAMegabyteIsNotRead(t *testing.T) {
	pad := func(n int) string {
		const frame = `{"access_token":"t","openid":"o1","pad":""}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1)
	}
	for size, ok := range map[int]bool{maxBody: true, maxBody + 1: false, 4 * maxBody: false} {
		c := served(t, nil, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, pad(size)) })
		if _, err := c.Finish(t.Context(), back, returned("wx")); (err == nil) != ok || !ok &&
			!strings.Contains(err.Error(), "more than 1 MiB") {
			t.Errorf("an answer of %d bytes: %v", size, err)
		}
	}
}

// Our own client keeps nothing open behind Finish, and asks no proxy of the environment.
func TestTransportClosesAllConnectionsOnFinish(t *testing.T) {
	closed := make(chan struct{}, 8)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"access_token":"t","openid":"o1"}`)
	}))
	var opened atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c, err := NewWX(WX{ID: ids["wx"], Secret: storage.NewSecret(secret), TokenURL: s.URL, UserURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(t.Context(), back, returned("wx")); err != nil {
		t.Fatal(err)
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections for two questions, want 1", opened.Load())
	}
	select {
	case <-closed:
	case <-time.After(5 * time.Second): // half of what an idle one has
		t.Error("the connection is still open")
	}
	if c.(*wx).client.Transport.(*http.Transport).Proxy != nil {
		t.Error("the environment may choose a proxy")
	}
}

// slowProvider answers each request after some time, unless it was cancelled.
type slowProvider struct {
	after time.Duration
	next  http.RoundTripper
}

func (s slowProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.after):
		return s.next.RoundTrip(r)
	}
}

func TestFinishTakesTenSecondsAtMost(t *testing.T) {
	keys() // outside the bubble: it takes real time
	for _, name := range names {
		synctest.Test(t, func(t *testing.T) {
			each := 9 * time.Second // the second question is the one too many
			c := connect(t, name, &http.Client{Transport: slowProvider{each, &cannedProvider{answers: good(name)}}})
			begun := time.Now()
			p, err := c.Finish(t.Context(), back, returned(name))
			if decorates(name, 1) && err == nil && strings.Contains(p.Unread, "deadline") {
				err = &Trouble{cause: context.DeadlineExceeded} // of the profile alone
			}
			if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*Trouble)) ||
				took != 10*time.Second {
				t.Errorf("%s: Finish = %v after %v, want a Trouble after 10s", name, err, took)
			}

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			time.AfterFunc(time.Millisecond, cancel)
			begun = time.Now()
			if _, err = c.Finish(ctx, back, returned(name)); !errors.Is(err, context.Canceled) ||
				time.Since(begun) != time.Millisecond {
				t.Errorf("%s: Finish = %v after %v, want that the caller has gone", name, err, time.Since(begun))
			}
		})
	}
}
