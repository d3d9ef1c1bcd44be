package bentclock

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/serving"
)

// ways list the acts that end all of a user's grants.
var ways = map[string]func(h *fixture, name string){
	"sign-out everywhere": func(h *fixture, name string) { h.command("session end", nil, name) },
	"a new password": func(h *fixture, name string) {
		h.command("user set", []string{"password", "another one of this test"}, name)
	},
	"disabled and enabled": func(h *fixture, name string) {
		h.command("user disable", nil, name)
		h.command("user enable", nil, name)
	},
}

func (h *fixture) command(name string, flags []string, words ...string) {
	h.t.Helper()
	var said any
	h.must(h.Run(name, &said, flags, words...))
}

// member is a user who signs in and grants something while the clock is wrong.
type member struct {
	name, way string
	granted   serving.Reply
	cookie    string
}

func (h *fixture) as(name, password string) {
	h.t.Helper()
	h.FirstRun.Admin.Username, h.FirstRun.Admin.Password = name, password
	h.must(h.SignIn())
}

const password = "a password of this test"

// join has a user for each way of ending grants grant something now.
func (h *fixture) join() (members []member) {
	h.t.Helper()
	for way := range ways {
		m := member{name: fmt.Sprintf("user-%d", len(members)), way: way}
		h.command("user create", []string{"username", m.name, "password", password})
		h.as(m.name, password)
		m.granted, m.cookie = h.grant(), h.Cookie
		members = append(members, m)
	}
	return members
}

// wantGone ends all that a user has granted, and wants it ended, and what comes after not.
func (h *fixture) wantGone(m member) {
	h.t.Helper()
	ways[m.way](h, m.name)
	h.want(m.way+": an access token from while the clock was wrong is accepted",
		h.status(m.granted.Access) == http.StatusUnauthorized)
	_, works := h.refreshes(m.granted.Refresh)
	h.want(m.way+": a refresh token from while the clock was wrong is accepted", !works)
	h.Cookie = m.cookie
	_, _, err := h.Authorize()
	h.want(m.way+": a session from while the clock was wrong is accepted", err != nil)
	if m.way == "a new password" {
		h.as(m.name, "another one of this test")
	} else {
		h.as(m.name, password)
	}
	again := h.grant()
	h.want(m.way+": it ends what is granted afterwards", h.status(again.Access) == http.StatusOK)
	_, works = h.refreshes(again.Refresh)
	h.want(m.way+": it ends the refresh token of what is granted afterwards", works)
}

// livesThrough bends the clock and bends it back, and returns what is not as it must be.
func (h *fixture) livesThrough(by time.Duration, live bool) []error {
	h.t.Helper()
	h.bend(by, live)
	h.wantEnded("while it is wrong")
	h.call()
	members := h.join()
	h.wantTrail()
	h.bend(0, live)
	h.wantEnded("right again")
	h.Cookie = h.cookie
	if _, _, err := h.Authorize(); err != nil {
		h.want(fmt.Sprintf("a session from before is gone: %v", err), false)
	}
	var works bool
	h.refresh, works = h.refreshes(h.refresh)
	h.want("a refresh token from before is gone", works)
	for _, m := range members {
		h.wantGone(m)
	}
	h.call()
	h.wantAccounts("right again")
	h.bend(0, false)
	h.wantEnded("started again")
	_, works = h.refreshes(h.refresh)
	h.want("a refresh token is gone, started again", works)
	h.wantAccounts("started again")
	h.wantTrail()
	return h.failed
}

func TestClockErrorsNeitherReviveNorLoseAnything(t *testing.T) {
	binary := program(t)
	for _, by := range wrong {
		for _, live := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, live %t", by, live), func(t *testing.T) {
				t.Parallel()
				for _, err := range open(t, binary).livesThrough(by, live) {
					t.Error(err)
				}
			})
		}
	}
}

// planted lists faults in how the times in the store are evaluated.
var planted = map[string]struct {
	fault overlay.Change
	by    time.Duration
}{
	"what has ended is judged by the clock alone": {overlay.Change{
		File: "storage/internal/clock/clock.go", Old: "return c.reached(now)", New: "return now",
	}, 8 * day},
	"revocations are dated by the clock alone": {overlay.Change{
		File: "storage/internal/clock/date.go", Old: "\t\t\tr.Before = c.next()\n\t\tdefault:",
		New: "\t\t\tr.Before = now\n\t\tdefault:",
	}, 2 * time.Hour},
}

func TestFaultThatAWrongClockShowsIsFound(t *testing.T) {
	program(t) // compiles most of what the others need
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			binary, err := Build(t.Context(), t.TempDir(), oftener, p.fault)
			if err != nil {
				t.Fatal(err)
			}
			failed := open(t, binary).livesThrough(p.by, false)
			if len(failed) == 0 {
				t.Fatal("it is not found")
			}
			t.Logf("note: found: %v", failed[0])
		})
	}
}
