package webhook

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeliveryAttemptsAreAtMostFourAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = hangs
		for i := range 10 {
			h.change(fmt.Sprint("m", i), "e")
		}
		s := h.sender()
		defer h.close(s)
		time.Sleep(46 * time.Second)
		synctest.Wait()
		if h.most != 4 || len(h.got()) < 10 {
			t.Errorf("%d at a time, %d attempts, want 4 and all 10", h.most, len(h.got()))
		}
	})
}

func TestReceiverThatHangsIsGivenUpAfter15Seconds(t *testing.T) {
	for name, answer := range map[string]func(call, *http.Request) (*http.Response, error){
		"no answer": hangs,
		"no end": func(_ call, r *http.Request) (*http.Response, error) {
			a := events(http.StatusInternalServerError)
			a.Body = endless{r.Context()}
			return a, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.answer = answer
			h.change("m", "e1")
			s := h.sender()
			defer h.close(s)
			time.Sleep(15*time.Second - 1)
			synctest.Wait()
			if d := h.queued("m")[0]; d.LastError != "" {
				t.Errorf("%s: before 15 s the delivery says %q", name, d.LastError)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			want := map[string]string{"no answer": "no answer in time", "no end": "the answer was 500"}[name]
			if d := h.queued("m")[0]; d.LastError != want || d.Attempts != 1 {
				t.Errorf("%s: after 15 s the delivery says %q, %d attempts; want %q, 1", name, d.LastError, d.Attempts, want)
			}
		})
	}
}

// endless is a body that says nothing until its request ends.
type endless struct{ ctx context.Context }

func (e endless) Read([]byte) (int, error) { <-e.ctx.Done(); return 0, e.ctx.Err() }

func (endless) Close() error { return nil }

func TestLittleIsReadOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		var read int
		var closed bool
		h.answer = func(call, *http.Request) (*http.Response, error) {
			a := events(http.StatusOK)
			a.Body = flood{&read, &closed}
			return a, nil
		}
		h.change("m", "e1")
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		h.wantQueued("m", 0)
		if read != 64<<10 || !closed {
			t.Errorf("%d bytes of the answer were read, closed %t, want %d and true", read, closed, 64<<10)
		}
	})
}

// flood is a body without end.
type flood struct {
	read   *int
	closed *bool
}

func (f flood) Read(p []byte) (int, error) { *f.read += len(p); return len(p), nil }

func (f flood) Close() error { *f.closed = true; return nil }

// jar answers with the same cookie for every URL.
type jar struct{ http.CookieJar }

func (jar) Cookies(*url.URL) []*http.Cookie { return []*http.Cookie{{Name: "n", Value: "v"}} }

func TestReceiversShareNoCookies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.change("m", "e1")
		s := h.sender(func(c *Config) { c.Client.Jar = jar{} })
		defer h.close(s)
		synctest.Wait()
		if calls := h.got(); len(calls) != 1 || calls[0].header.Get("Cookie") != "" {
			t.Errorf("%+v arrived, want it once and without a cookie", calls)
		}
	})
}

func TestMistakeOfAConfigIsNamedAtOnce(t *testing.T) {
	for _, every := range []time.Duration{-1, time.Second - 1, time.Hour + 1} {
		s, err := New(Config{Every: every})
		if s != nil || err == nil {
			t.Fatalf("New() = %v, %v, want an error", s, err)
		}
		for _, want := range []string{"Store", "Client", "Every"} {
			if !strings.Contains(err.Error(), "Config."+want) {
				t.Errorf("New(Every %v) = %q, want it to name %s", every, err, want)
			}
		}
	}
	h := built(t)
	for _, every := range []time.Duration{0, time.Second, time.Hour} {
		s, err := New(Config{Store: h.store, Client: http.DefaultClient, Every: every})
		if err != nil {
			t.Fatalf("New(Every %v) = %v, want no error", every, err)
		}
		h.close(s)
	}
	if http.DefaultClient.CheckRedirect != nil {
		t.Error("New() changed the client it was handed")
	}
}
