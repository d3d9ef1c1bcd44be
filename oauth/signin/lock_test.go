package signin

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// blockingUsers are Users that know one password, count their calls, and answer when
// the test lets them.
type blockingUsers struct {
	calls  atomic.Int32
	answer chan struct{}
}

func (c *blockingUsers) User(context.Context, string) (storage.User, error) {
	return storage.User{Sub: "u1", Username: "mina"}, nil
}

func (c *blockingUsers) Authenticate(_ context.Context, _, pass string) (storage.User, error) {
	c.calls.Add(1)
	if c.answer != nil {
		<-c.answer
	}
	switch pass {
	case password:
		return storage.User{Sub: "u1", Username: "mina"}, nil
	case "panic":
		panic("a host's own mistake")
	case "away":
		return storage.User{}, errDown
	}
	return storage.User{}, storage.ErrNotFound
}

func withUsers(c *blockingUsers) func(*Config) { return func(cfg *Config) { cfg.Users = hostOf(c) } }

func attemptAs(pass, from string) *http.Request {
	r := post("username", "mina", "password", pass, "query", authorizeQuery)
	r.RemoteAddr = from + ":4711"
	return r
}

// Decision 19.
func TestTenthFailureAnswers401AndTheNext429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := &blockingUsers{}
		rm := newFixture(t, withUsers(users))
		for i := range 10 {
			if a := rm.do(attemptAs("wrong", "192.0.2.1")); a.Code != http.StatusUnauthorized {
				t.Fatalf("failure %d = %d, want 401", i+1, a.Code)
			}
		}
		time.Sleep(30 * time.Second)
		a := rm.do(attemptAs(password, "192.0.2.1"))
		if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "870" || a.cookie() != "" {
			t.Errorf("the right password while locked = %d, Retry-After %q, want 429 and 870", a.Code,
				a.Header().Get("Retry-After"))
		}
		for _, want := range []string{"Wait 15 minutes", `href="/oauth/authorize?client_id=ksacme&amp;`, "<title>Too many attempts · Acme</title>"} {
			if !strings.Contains(a.body, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		if n := users.calls.Load(); n != 10 {
			t.Errorf("credentials were looked at %d times, want 10", n)
		}
		if a := rm.do(attemptAs(password, "192.0.2.2")); a.Code != http.StatusSeeOther {
			t.Errorf("another address = %d, want 303: accounts are not locked", a.Code)
		}
		time.Sleep(14*time.Minute + 30*time.Second)
		if a := rm.do(attemptAs(password, "192.0.2.1")); a.Code != http.StatusSeeOther {
			t.Errorf("after 15 minutes = %d, want 303", a.Code)
		}
	})
}

func TestGuessesMadeInParallelAreNoMoreThanInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := &blockingUsers{answer: make(chan struct{})}
		rm := newFixture(t, withUsers(users))
		var codes [600]atomic.Int32
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() {
				a := rm.do(attemptAs("wrong", "192.0.2.1"))
				codes[a.Code].Add(1)
				if a.Code == http.StatusTooManyRequests && a.Header().Get("Retry-After") != "2" {
					t.Errorf("Retry-After = %q, want 2", a.Header().Get("Retry-After"))
				}
			})
		}
		synctest.Wait()
		if n := users.calls.Load(); n != 10 {
			t.Errorf("%d of 30 looked at, want 10", n)
		}
		close(users.answer)
		group.Wait()
		if ok, busy := codes[401].Load(), codes[429].Load(); ok != 10 || busy != 20 {
			t.Errorf("%d times 401 and %d times 429, want 10 and 20", ok, busy)
		}
		if a := rm.do(attemptAs(password, "192.0.2.1")); a.Code != http.StatusTooManyRequests ||
			a.Header().Get("Retry-After") != "900" {
			t.Errorf("afterwards = %d, Retry-After %q, want 429 and 900", a.Code, a.Header().Get("Retry-After"))
		}
	})
}

func TestLockoutCountsOnlyKnownWrongPasswords(t *testing.T) {
	users := &blockingUsers{}
	rm := newFixture(t, withUsers(users))
	for range 20 {
		if a := rm.do(attemptAs("away", "192.0.2.1")); a.Code != http.StatusServiceUnavailable {
			t.Fatalf("users away = %d, want 503", a.Code)
		}
		if a := rm.do(attemptAs("panic", "192.0.2.1")); a.Code != http.StatusInternalServerError {
			t.Fatalf("users in panic = %d, want 500", a.Code)
		}
	}
	if a := rm.do(attemptAs(password, "192.0.2.1")); a.Code != http.StatusSeeOther {
		t.Errorf("afterwards = %d, want 303", a.Code)
	}
}

// Decision 19: what cannot be right is no guess.
func TestEmptyCredentialIsMalformedAndNoFailure(t *testing.T) {
	users := &blockingUsers{}
	rm := newFixture(t, withUsers(users))
	for _, in := range [][2]string{{"mina", ""}, {"", password}, {"  ", password}, {"", ""}} {
		for range 10 {
			r := post("username", in[0], "password", in[1], "query", authorizeQuery)
			r.RemoteAddr = "192.0.2.1:4711"
			a := rm.do(r)
			if a.Code != http.StatusBadRequest || !strings.Contains(a.body, "Type in your username and your password.") {
				t.Fatalf("username %q, password of %d = %d, want 400 and the form with what to do", in[0], len(in[1]), a.Code)
			}
			if !strings.Contains(a.body, "client_id=ksacme") || strings.Contains(a.body, password) {
				t.Fatal("the page has lost the application's request, or shows the password")
			}
		}
	}
	if n := users.calls.Load(); n != 0 {
		t.Errorf("%d were looked up, want none", n)
	}
	if a := rm.do(attemptAs(password, "192.0.2.1")); a.Code != http.StatusSeeOther {
		t.Errorf("the right password afterwards = %d, want 303", a.Code)
	}
	for range 10 {
		rm.do(attemptAs("wrong", "192.0.2.1"))
	}
	if a := rm.do(attemptAs(password, "192.0.2.1")); a.Code != http.StatusTooManyRequests {
		t.Errorf("after ten wrong ones = %d, want 429", a.Code)
	}
}

func TestClientIPIsWhatTheHostSaysItIs(t *testing.T) {
	users := &blockingUsers{}
	rm := newFixture(t, func(c *Config) {
		c.Users = hostOf(users)
		c.ClientIP = func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("X-Test-IP")) }
	})
	for i := range 20 {
		r := post("username", fmt.Sprintf("user%d", i), "password", "wrong")
		r.RemoteAddr = "127.0.0.1:4711"
		r.Header.Set("X-Test-IP", testAddress(i).String())
		if a := rm.do(r); a.Code != http.StatusUnauthorized {
			t.Errorf("attempt %d from its own address = %d, want 401", i, a.Code)
		}
	}
}
