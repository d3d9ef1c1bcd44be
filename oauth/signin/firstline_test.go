package signin

import (
	"container/list"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// Somebody with an account has a browser that is known to it, copies what makes it known, and has
// wrong passwords for their own account hashed from many addresses.
func TestWrongPasswordsInAKnownBrowserDoNotFillTheFirstLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		var p *passwords.Hasher
		rm := newFixture(t, func(c *Config) { p = c.Passwords })
		mark := &http.Cookie{Name: session.KnownCookie, Value: rm.remembers(rm.mina.Sub)}
		noor, err := users.New(rm.store.Store, p).Create(t.Context(), storage.User{Username: "Noor"}, password)
		must(t, err)
		noors := &http.Cookie{Name: session.KnownCookie, Value: rm.remembers(noor.Sub)}
		hashSlowly(p, &n)
		sign := rm.guesser()
		var all sync.WaitGroup
		for round := range 5 {
			for i := range 200 { // far more than can be hashed meanwhile
				all.Go(func() { sign("mina", "wrong password", round*200+i, mark) })
			}
			synctest.Wait()
			if round == 0 {
				if first := fieldOf[list.List](p, "queue.known").Len(); first > delayAfter {
					t.Errorf("%d of them wait in the first line, want at most %d", first, delayAfter)
				}
			}
			for promise, try := range map[string]func() answer{
				"another user in a known browser": func() answer { return sign("noor", password, 5000+round, noors) },
				"who was never here before":       func() answer { return sign("noor", password, 6000+256*round) },
				"the owner, where they are known": func() answer { return sign("mina", password, 40_000+256*round, mark) },
			} {
				began := time.Now()
				if a := try(); a.Code != http.StatusSeeOther || time.Since(began) > (delayAfter+4)*hashTime {
					t.Errorf("round %d: %s = %d after %v, want 303 soon", round, promise, a.Code, time.Since(began))
				}
			}
		}
		all.Wait()
	})
}

func TestThrottledRequestsFillNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *passwords.Hasher
		rm := newFixture(t, func(c *Config) { p = c.Passwords })
		*keyOf(p) = func(_, _ []byte, _, _ uint32, _ uint8, size uint32) []byte {
			time.Sleep(hashTime)
			return make([]byte, size)
		}
		var busy atomic.Int64
		var all sync.WaitGroup
		for i := range 1500 {
			all.Go(func() {
				if rm.do(guess(fmt.Sprint("user", i), "wrong password", 256*i)).Code == http.StatusServiceUnavailable {
					busy.Add(1)
				}
			})
		}
		all.Wait()
		lines := strings.Count(rm.log.String(), "status=503")
		if n := busy.Load(); n < 1000 || lines > 1 || strings.Contains(rm.log.String(), "level=ERROR") {
			t.Errorf("%d were told to come back, and the log has %d lines of it, want one at most", n, lines)
		}
	})
}
