package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// late bounds how long after the end of a token something may go on.
const late = 10 * time.Second

// lasting is a service whose answers go on until they cannot.
type lasting struct {
	cause  chan error     // why the context of a request has ended
	failed chan time.Time // when nothing could be written any more
}

func newLasting() *lasting { return &lasting{make(chan error, 1000), make(chan time.Time, 1000)} }

func (l *lasting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "begun")
	<-r.Context().Done()
	l.cause <- context.Cause(r.Context())
	for { // as one that does not listen
		if _, err := io.WriteString(w, "more"); err != nil {
			l.failed <- time.Now()
			return
		}
		time.Sleep(time.Second)
	}
}

// goOn begins a call and returns what is closed when it is over, with what it panicked with.
func (h *fixture) goOn(bearer string) (over chan any) {
	over = make(chan any, 1)
	r := h.request("GET", "/svc/x", bearer, nil)
	go func() {
		defer func() { over <- recover() }()
		h.handler.ServeHTTP(httptest.NewRecorder(), r)
	}()
	return over
}

// Decision 98.
func TestCallThatGoesOnEndsWithItsToken(t *testing.T) {
	type opened struct {
		h      *fixture
		user   string
		bearer string
	}
	token := func(h *fixture) opened {
		user := h.testUser("ada", "").Sub
		return opened{h, user, forgery.Genuine(h, h.service(user))}
	}
	revoke := func(kind string, id func(storage.Caller) string) func(o opened) error {
		return func(o opened) error {
			caller := must(o.h.tokens.Verify(o.h.Context(), o.bearer))(o.h)
			return o.h.tokens.Revoke(o.h.Context(), driver.Revocation{Kind: kind, ID: id(caller),
				Before: time.Now().Add(time.Millisecond)})
		}
	}
	for name, c := range map[string]struct {
		open func(h *fixture) opened
		at   time.Duration // of the end
		end  func(o opened) error
	}{
		"its token is revoked": {token, time.Minute, revoke(driver.RevokeJTI,
			func(c storage.Caller) string { return c.TokenID })},
		"its grant is revoked": {token, time.Minute, revoke(driver.RevokeGrant,
			func(c storage.Caller) string { return c.Grant })},
		"sign-out everywhere": {token, time.Minute, revoke(driver.RevokeUser,
			func(c storage.Caller) string { return c.UserID })},
		"revoked when it begins": {token, 0, revoke(driver.RevokeJTI, func(c storage.Caller) string { return c.TokenID })},
		"its application is disabled": {token, time.Minute, func(o opened) error {
			app := must(o.h.store.App(o.h.Context(), o.h.app.ID))(o.h)
			app.Disabled = true
			_, err := o.h.store.SaveApp(o.h.Context(), app)
			return err
		}},
		"its token expires": {token, time.Hour, func(opened) error { return nil }},
		"an API key is removed": {func(h *fixture) opened {
			user := h.testUser("ada", "").Sub
			text, _ := h.key(user, "tools")
			return opened{h, user, text}
		}, time.Minute, func(o opened) error {
			caller := must(o.h.tokens.Verify(o.h.Context(), o.bearer))(o.h)
			return apikeys.End(o.h.Context(), o.h.store, o.h.tokens.Revoke, caller.TokenID)
		}},
		"an API key expires": {func(h *fixture) opened {
			user := h.testUser("ada", "").Sub
			text, _ := h.key(user, "tools")
			return opened{h, user, text}
		}, 24 * time.Hour, func(opened) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, func(c *gateway.Config) { c.StreamLife = 100 * time.Hour })
				service := newLasting()
				h.svc = h.gateway.Guard("svc", service)
				o := c.open(h)
				over := h.goOn(o.bearer)
				time.Sleep(c.at - time.Second)
				synctest.Wait()
				if len(service.cause) > 0 && c.at > 0 {
					t.Fatal("it ended before")
				}
				time.Sleep(time.Second)
				ended := time.Now()
				if err := c.end(o); err != nil {
					t.Fatal(err)
				}
				if why := <-service.cause; !errors.Is(why, reqctx.ErrEnded) || time.Since(ended) > late {
					t.Errorf("its context ended with %v after %v", why, time.Since(ended))
				}
				if at := <-service.failed; at.Sub(ended) > late {
					t.Errorf("something was written for %v", at.Sub(ended))
				}
				if p := <-over; p != http.ErrAbortHandler {
					t.Errorf("it panicked with %v, want that the answer is broken off", p)
				}
				if s := h.gateway.Stats(); s.StreamsEnded != 1 || s.Charged != 1 {
					t.Errorf("%d ended, %d charged, want one of each", s.StreamsEnded, s.Charged)
				}
			})
		})
	}
}

func TestCallThatGoesOnEndsAfterTheLifeOfStreams(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{0: 24 * time.Hour, time.Minute: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, func(c *gateway.Config) { c.StreamLife = life })
			service := newLasting()
			h.svc = h.gateway.Guard("svc", service)
			over, began := h.goOn(h.bearer(h.app)), time.Now()
			<-service.cause
			if took := time.Since(began); took < want || took > want+late {
				t.Errorf("StreamLife %v: it ended after %v", life, took)
			}
			<-over
		})
	}
	h := newFixture(t)
	if _, err := gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit,
		StreamLife: -1}); err == nil || !strings.Contains(err.Error(), "StreamLife") {
		t.Errorf("New() = %v, want a complaint about StreamLife", err)
	}
}

// Decision 71: what one node does ends what goes on at another.
func TestCallEndsAtEveryNode(t *testing.T) {
	t.Setenv("KEYSTILE_TEST_NODES", "2")
	for name, end := range map[string]func(h *fixture, caller storage.Caller) error{
		"revoked": func(h *fixture, c storage.Caller) error {
			return h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: c.TokenID,
				Before: time.Now().Add(time.Millisecond)})
		},
		"disabled": func(h *fixture, c storage.Caller) error {
			app := must(h.store.App(h.Context(), c.AppID))(h)
			app.Disabled = true
			_, err := h.store.SaveApp(h.Context(), app)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, settle := backend.Nodes(t)
				master := storage.NewMasterKey()
				a, b := newNode(t, nodes[0], master), newNode(t, nodes[1], master)
				a.apps()
				b.app = a.app
				service := newLasting()
				b.svc = b.gateway.Guard("svc", service)
				settle()
				bearer := a.bearer(a.app)
				over := b.goOn(bearer)
				time.Sleep(time.Minute)
				if err := end(a, must(a.tokens.Verify(t.Context(), bearer))(t)); err != nil {
					t.Fatal(err)
				}
				ended := time.Now()
				if <-service.cause; time.Since(ended) > late {
					t.Errorf("it ended after %v", time.Since(ended))
				}
				<-over
			})
		})
	}
}

// Ten thousand streams are looked at in memory.
func TestStreamsThatGoOnAskTheStoreForNothingOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, busy)
		var reads atomic.Int64
		h.backend.get = func(string) { reads.Add(1) }
		service := newLasting()
		h.svc = h.gateway.Guard("svc", service)
		bearer := h.bearer(h.app)
		const many = 500
		var all []chan any
		for range many {
			all = append(all, h.goOn(bearer))
		}
		synctest.Wait()
		before := reads.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := reads.Load() - before; got == 0 || got > 60 {
			t.Errorf("%d streams read the store %d times in a minute, want the application alone, each few seconds", many, got)
		}
		caller := must(h.tokens.Verify(t.Context(), bearer))(t)
		h.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeApp, ID: caller.AppID,
			Before: time.Now().Add(time.Millisecond)})
		for range many {
			<-service.cause
		}
		for _, over := range all {
			<-over
		}
	})
}

// While the store is away, calls pass by what is remembered, and streams go on.
func TestStreamsGoOnWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		service := newLasting()
		h.svc = h.gateway.Guard("svc", service)
		over := h.goOn(h.bearer(h.app))
		synctest.Wait()
		h.backend.set(nil, errors.New("away"))
		h.gateway.Forget(h.app.ID)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(service.cause) > 0 {
			t.Error("it was ended")
		}
		h.backend.set(nil, nil)
		time.Sleep(25 * time.Hour)
		<-over
	})
}

// A handler that ends when it is told to may say a last word.
func TestHandlerMaySayALastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { c.StreamLife = time.Minute })
		h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if _, err := io.WriteString(w, "bye"); err != nil {
				t.Errorf("the last word: %v", err)
			}
		}))
		<-h.goOn(h.bearer(h.app))
	})
}

// A call that is done in time is not watched, and costs nothing.
func TestShortCallsAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Second)
			if err := r.Context().Err(); err != nil {
				t.Errorf("a call of two seconds: %v", err)
			}
		}))
		bearer := h.bearer(h.app)
		caller := must(h.tokens.Verify(t.Context(), bearer))(t)
		over := h.goOn(bearer)
		synctest.Wait()
		h.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: caller.TokenID,
			Before: time.Now().Add(time.Millisecond)})
		if p := <-over; p != nil {
			t.Errorf("it was broken off: %v", p)
		}
	})
}

// Handlers derive contexts of theirs from it, wait for its end and ask it for values.
func TestContextOfACallIsOneAsAnyOther(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			child, cancel := context.WithTimeout(context.WithValue(ctx, key{}, 1), time.Hour)
			defer cancel()
			after := make(chan error, 1)
			defer context.AfterFunc(child, func() { after <- context.Cause(child) })()
			if ctx.Err() != nil || child.Err() != nil || child.Value(key{}) != 1 || reqctx.From(child) == nil {
				t.Errorf("the contexts are %v and %v", ctx.Err(), child.Err())
			}
			if why := <-after; why != context.Canceled || ctx.Err() != context.Canceled ||
				errors.Is(context.Cause(ctx), reqctx.ErrEnded) {
				t.Errorf("the client's leaving is %v", why)
			}
		}))
		ctx, leave := context.WithCancel(t.Context())
		r := h.request("GET", "/svc/x", h.bearer(h.app), nil).WithContext(ctx)
		go func() {
			time.Sleep(time.Minute)
			leave()
		}()
		h.send(r)
	})
}
