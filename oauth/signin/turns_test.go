package signin

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/counters"
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

// guessers are whole crowds that guess at one account.
var guessers = map[string]func(i int) string{
	"one address":          func(int) string { return "198.51.100.1:1" },
	"three of a /24":       func(i int) string { return fmt.Sprintf("198.51.100.%d:1", i%3) },
	"ten of a /24":         func(i int) string { return fmt.Sprintf("198.51.100.%d:1", i%10) },
	"190 in all the world": func(i int) string { return fmt.Sprintf("%d.51.100.1:1", 1+i%190) },
	"a /48":                func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:1", i*251%65536) },
	"five /48 in five /32": func(i int) string { return fmt.Sprintf("[2001:%x:0:%x::1]:1", 0xdb8+i%5, i*251%65536) },
	"five /48 in one /32":  func(i int) string { return fmt.Sprintf("[2001:db8:%x:%x::1]:1", i%5, i*251%65536) },
	"four /48 in two /32": func(i int) string {
		return fmt.Sprintf("[2001:%x:%x:%x::1]:1", 0xdb8+i%2, i/2%2, i*251%65536)
	},
	"four /24 in two /16":      func(i int) string { return fmt.Sprintf("198.%d.%d.%d:1", 51+i%2, 100+i/2%2, i/4%256) },
	"100 addresses in 25 /24":  func(i int) string { return fmt.Sprintf("198.51.%d.%d:1", 100+i%25, i/25%4) },
	"100 addresses in 100 /24": func(i int) string { return fmt.Sprintf("198.51.%d.1:1", 100+i%100) },
	"a whole /32": func(i int) string {
		return fmt.Sprintf("[2001:db8:%x:%x::1]:1", i*251%65536, i*17%65536)
	},
	"a whole /16": func(i int) string { return fmt.Sprintf("198.51.%d.%d:1", i%250, i/250%250) },
	"five /48 and 100 addresses in 100 /16": func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("[2001:%x:0:%x::1]:1", 0xdb8+i/2%5, i*251%65536)
		}
		return fmt.Sprintf("%d.51.100.1:1", 1+i/2%100)
	},
	"five /48 in one /32 and 100 addresses in 25 /24": func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("[2001:db8:%x:%x::1]:1", i/2%5, i*251%65536)
		}
		return fmt.Sprintf("198.51.%d.%d:1", 100+i/2%25, i/50%4)
	},
}

// guessed runs with Mina's account in a bubble while one of the guessers is at work.
func guessed(t *testing.T, by string, run func(t *testing.T, rm *fixture)) {
	t.Run(strings.ReplaceAll(by, " ", "_"), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			// the lock of addresses is no help
			rm := newFixture(t, func(c *Config) { c.Lock = counters.Lock{Failures: 1_000_000} })
			stop := make(chan struct{})
			go rm.hammer(stop, guessers[by])
			defer func() { close(stop); synctest.Wait() }()
			run(t, rm)
		})
	})
}

// letIn tries a password from an address, as often as Retry-After says, for two minutes.
func (rm *fixture) letIn(t *testing.T, from, pass string) {
	t.Helper()
	for began := time.Now(); ; {
		r := post("username", "mina", "password", pass)
		r.RemoteAddr = from
		a := rm.do(r)
		if a.Code != http.StatusTooManyRequests {
			if want := map[bool]int{true: 303, false: 401}[pass == password]; a.Code != want {
				t.Errorf("%s, %s: %d, want %d", from, pass, a.Code, want)
			}
			return
		}
		wait, err := strconv.Atoi(a.Header().Get("Retry-After"))
		if err != nil || wait < 1 || wait > 60 {
			t.Fatalf("%s: Retry-After %q", from, a.Header().Get("Retry-After"))
		}
		if time.Sleep(time.Duration(wait) * time.Second); time.Since(began) > 2*time.Minute {
			t.Errorf("%s, %s: not let in for %v", from, pass, time.Since(began))
			return
		}
	}
}

// Decision 97.
func TestSignInWorksInANewBrowserWhileOthersGuess(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for by := range guessers {
		guessed(t, by, func(t *testing.T, rm *fixture) {
			time.Sleep(5*time.Second + 777*time.Millisecond)
			for i, pass := range []string{password, "a mistake", password, password, password, password} {
				rm.letIn(t, "192.0.2.7:1", pass)
				rm.letIn(t, "[2001:dead::7]:1", pass)
				rm.letIn(t, fmt.Sprintf("203.0.113.%d:1", i), pass)
				time.Sleep(3*time.Minute + 777*time.Millisecond)
			}
		})
	}
}

// An attacker who guesses uses up the turns of their networks, not those of others in the networks around.
func TestSignInWorksBesideThoseWhoGuess(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for by, besides := range map[string][]string{
		"three of a /24":       {"198.51.100.9:1", "198.51.7.7:1"},
		"ten of a /24":         {"198.51.100.99:1", "198.51.7.7:1"},
		"190 in all the world": {"7.51.100.9:1", "7.51.7.7:1"},
		"a /48":                {"[2001:db8:7::1]:1"},
		"five /48 in five /32": {"[2001:db8:7::1]:1", "[2001:dbc:7::1]:1"},
		"five /48 in one /32":  {"[2001:db8:7::1]:1"},
		"four /48 in two /32":  {"[2001:db8:7::1]:1", "[2001:db9:7::1]:1"},
		"four /24 in two /16":  {"198.51.7.7:1", "198.52.7.7:1"},

		"100 addresses in 25 /24":                         {"198.51.7.7:1", "198.51.100.99:1"},
		"100 addresses in 100 /24":                        {"198.51.7.7:1", "198.51.100.99:1"},
		"five /48 and 100 addresses in 100 /16":           {"[2001:db8:7::1]:1", "7.51.7.7:1", "7.51.100.9:1"},
		"five /48 in one /32 and 100 addresses in 25 /24": {"[2001:db8:7::1]:1", "198.51.7.7:1", "198.51.100.99:1"},
	} {
		guessed(t, by, func(t *testing.T, rm *fixture) {
			for _, pass := range []string{password, "a mistake", password, password, password} {
				time.Sleep(3*time.Minute + 777*time.Millisecond)
				for _, from := range besides {
					rm.letIn(t, from, pass)
				}
			}
		})
	}
}

// However many networks guess, 4,860 guesses an hour are looked at of one account, and of a few networks far fewer.
// The first ten are those before there is a delay.
func TestGuessesFromAThousandNetworksAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	guessers := maps.Clone(guessers)
	guessers["20,000 in 10,000 /16"] = func(i int) string {
		return fmt.Sprintf("%d.%d.100.%d:1", 1+i%100, i/100%100, i%2)
	}
	for by, most := range map[string]int64{
		"one address":          10 + 4 + 60 + 60,
		"five /48 in five /32": 10 + 5*79 + 10*60 + 60,
		"a whole /16":          10 + 1204 + 5*60 + 60,
		"20,000 in 10,000 /16": 10 + 4860,
	} {
		t.Run(strings.ReplaceAll(by, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rm := newFixture(t, func(c *Config) { c.Lock = counters.Lock{Failures: 1_000_000} })
				before, stop := rm.hashes.Load(), make(chan struct{})
				go rm.hammer(stop, guessers[by])
				time.Sleep(time.Hour - time.Second)
				close(stop)
				synctest.Wait()
				if n := rm.hashes.Load() - before; n > most || n < most/3 {
					t.Errorf("%d guesses were looked at in an hour, want at most %d", n, most)
				} else {
					t.Logf("%d guesses were looked at in an hour, of %d at most", n, most)
				}
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

func TestPageThatSaysToWaitOffersAPasskey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		f.delayed("mina")
		a := f.do(guess("mina", password, 0))
		if a.Code != http.StatusTooManyRequests || !strings.Contains(a.body, `action="/oauth/signin/passkey"`) {
			t.Errorf("= %d, and offers no passkey:\n%s", a.Code, a.body)
		}
	})
}
