package signin

import (
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/passwords"
)

const hashTime = 100 * time.Millisecond

func TestLegitimateSignInsAreServedDuringAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		var p *passwords.Hasher
		rm := newFixture(t, func(c *Config) { p = c.Passwords })
		mark := rm.remembers(rm.mina.Sub)
		hashSlowly(p, &n)
		sign := rm.guesser()
		for i := range 300 { // all of them have failed before
			sign(fmt.Sprint("early", i), "wrong password", i)
		}
		var codes [600]atomic.Int32
		var all sync.WaitGroup
		for i := range 900 {
			all.Go(func() {
				a := sign(fmt.Sprint("user", i), "wrong password", i%300)
				codes[a.Code].Add(1)
				if after, _ := strconv.Atoi(a.Header().Get("Retry-After")); a.Code == 503 && (after < 1 || after > 60) {
					t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
				}
			})
		}
		synctest.Wait()
		for promise, from := range map[string]int{"a known browser": 5, "an address that has not failed": 5000} {
			began, cookies := time.Now(), []*http.Cookie(nil)
			if from == 5 {
				cookies = append(cookies, &http.Cookie{Name: session.KnownCookie, Value: mark})
			}
			if a := sign("mina", password, from, cookies...); a.Code != http.StatusSeeOther || time.Since(began) > 4*hashTime {
				t.Errorf("%s = %d after %v, want 303 next", promise, a.Code, time.Since(began))
			}
		}
		all.Wait()
		if wrong, busy := codes[401].Load(), codes[503].Load(); wrong == 0 || busy == 0 || wrong+busy != 900 {
			t.Errorf("of the flood %d were refused and %d told to come back, want 900 and some of each", wrong, busy)
		}
		if a := sign("user0", "wrong password", 7000); a.Code != http.StatusUnauthorized {
			t.Errorf("afterwards = %d, want 401", a.Code)
		}
	})
}

func TestSignInDoesNotFailForAHashThatIsOnlyRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		p := passwords.New(passwords.Cost{}) // another cost than Mina's hash has
		rm := newFixture(t, func(c *Config) { c.Passwords = p })
		key := keyOf(p)
		compute := *key
		*key = func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte {
			if n.Add(1) == 1 {
				*fieldOf[time.Duration](p, "queue.typical") = time.Hour
				*fieldOf[int](p, "queue.running") = runtime.GOMAXPROCS(0) + 1 // others have come meanwhile
			}
			return compute(password, salt, passes, memory, threads, size)
		}
		rm.enterMina()
		if n.Load() != 1 {
			t.Errorf("%d hashes, want 1", n.Load())
		}
	})
}

// hashSlowly has each hash take as long as on a slow machine, and counts them.
func hashSlowly(p *passwords.Hasher, n *atomic.Int64) {
	key := keyOf(p)
	compute := *key
	*key = func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte {
		n.Add(1)
		time.Sleep(hashTime)
		return compute(password, salt, passes, memory, threads, size)
	}
}

// guesser signs in from the i-th address, with the cookies of a browser.
func (rm *fixture) guesser() func(username, pass string, i int, cookies ...*http.Cookie) answer {
	return func(username, pass string, i int, cookies ...*http.Cookie) answer {
		r := guess(username, pass, i)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		return rm.do(r)
	}
}

// derive is the function that computes a hash.
type derive = func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte

func keyOf(p *passwords.Hasher) *derive { return fieldOf[derive](p, "key") }

// fieldOf is a field that a package does not show, because only tests may change it.
func fieldOf[T any](of any, path string) *T {
	v := reflect.ValueOf(of)
	for name := range strings.SplitSeq(path, ".") {
		v = v.Elem().FieldByName(name)
		if v.Kind() != reflect.Pointer {
			v = v.Addr()
		}
	}
	return (*T)(v.UnsafePointer())
}
