package signin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

// hammer guesses at Mina's password ten times a second until stop is closed, from the addresses in turn.
func (rm *fixture) hammer(stop <-chan struct{}, from func(i int) string) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
			r := post("username", "mina", "password", "wrong password")
			r.RemoteAddr = from(i)
			rm.do(r)
		}
	}
}

// Decision 97.
func TestSomebodyInANewBrowserSignsInWhileOthersGuess(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		from   func(i int) string
		honest string
	}{
		"from one address":               {func(int) string { return "198.51.100.1:1" }, "192.0.2.7:1"},
		"from three, one beside theirs":  {func(i int) string { return fmt.Sprintf("198.51.100.%d:1", i%3) }, "198.51.100.9:1"},
		"from ten, one beside theirs":    {func(i int) string { return fmt.Sprintf("198.51.100.%d:1", i%10) }, "198.51.100.99:1"},
		"from 200 in all the world":      {func(i int) string { return fmt.Sprintf("%d.51.100.1:1", 1+i%200) }, "192.0.2.7:1"},
		"from a /48 with a new /64 each": {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i%65536) }, "192.0.2.7:1"},
		"from a /48, one beside it":      {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i%65536) }, "[2001:db8:7::1]:1"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rm := newFixture(t, func(c *Config) { c.Lock = lockout.Config{Failures: 1_000_000} }) // the lock of addresses is no help
				stop := make(chan struct{})
				go rm.hammer(stop, c.from)
				defer func() { close(stop); synctest.Wait() }()
				for _, pass := range []string{password, "a mistake", password} {
					time.Sleep(3 * time.Minute)
					began := time.Now()
					for {
						r := post("username", "mina", "password", pass)
						r.RemoteAddr = c.honest
						a := rm.do(r)
						if a.Code != http.StatusTooManyRequests {
							if want := map[bool]int{true: 303, false: 401}[pass == password]; a.Code != want {
								t.Errorf("%s: %d, want %d", pass, a.Code, want)
							}
							break
						}
						wait, err := strconv.Atoi(a.Header().Get("Retry-After"))
						if err != nil || wait < 1 || wait > 60 {
							t.Fatalf("Retry-After %q", a.Header().Get("Retry-After"))
						}
						time.Sleep(time.Duration(wait) * time.Second)
						if time.Since(began) > 2*time.Minute {
							t.Fatalf("%s: not let in for %v", pass, time.Since(began))
						}
					}
				}
			})
		})
	}
}

// However many networks guess, one account has 81 guesses a minute looked at, and an address one.
func TestGuessesFromAThousandNetworksAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		from func(i int) string
		most int64 // in the three minutes that follow
	}{
		"one address":        {func(int) string { return "198.51.100.1:1" }, 2 * 4},
		"a /24":              {func(i int) string { return fmt.Sprintf("198.51.100.%d:1", i%256) }, 16 * 4},
		"a /48":              {func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i%65536) }, 16 * 4},
		"a thousand of /16":  {func(i int) string { return fmt.Sprintf("%d.%d.100.1:1", 1+i%100, i/100%10) }, 81 * 4},
		"ten thousand of it": {func(i int) string { return fmt.Sprintf("%d.%d.100.1:1", 1+i%100, i/100%100) }, 81 * 4},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rm := newFixture(t, func(c *Config) { c.Lock = lockout.Config{Failures: 1_000_000} })
				stop := make(chan struct{})
				go rm.hammer(stop, c.from)
				time.Sleep(2 * time.Minute)
				before := rm.hashes.Load()
				time.Sleep(3 * time.Minute)
				if n := rm.hashes.Load() - before; n > c.most || n < 3 {
					t.Errorf("%d guesses were looked at in three minutes, want at most %d", n, c.most)
				}
				close(stop)
				synctest.Wait()
			})
		})
	}
}

func TestWrongPasswordsMakeNoCodeByEmailWaitAndThePageOffersOne(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.delayed("mina")
		a := h.do(guess("mina", password, 0))
		if a.Code != http.StatusTooManyRequests || !strings.Contains(a.body, `href="`+web.Link{Path: otp.SignInFlow.Path}.Carrying(authorizeQuery).Path[:len(otp.SignInFlow.Path)]) {
			t.Errorf("the page that says to wait = %d and offers no code by email:\n%s", a.Code, a.body)
		}
		b := h.browser()
		b.from = testAddress(0).String() // the network has no turn of its own with the password
		b.requestCode(t, otp.SignInFlow, minas)
		b.wants(t, "a code by email", b.post(otp.SignInFlow.CodePath(), "code", h.code()), 303, "")
	})
}

func TestThePageThatSaysToWaitOffersAPasskey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		f.delayed("mina")
		a := f.do(guess("mina", password, 0))
		if a.Code != http.StatusTooManyRequests || !strings.Contains(a.body, `action="/oauth/signin/passkey"`) {
			t.Errorf("= %d, and offers no passkey:\n%s", a.Code, a.body)
		}
	})
}
