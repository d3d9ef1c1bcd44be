package bentclock

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// pair is two servers of one store, each on a machine whose clock can be set.
type pair [2]*fixture

func openPair(t *testing.T) (p pair) {
	t.Helper()
	dsn := database.WithSchema(t)
	binary, key := program(t), storage.NewMasterKey().Text()
	for i := range p {
		dir, err := os.MkdirTemp(scratch, "")
		if err != nil {
			t.Fatal(err)
		}
		clock, err := New(dir)
		if err != nil {
			t.Fatal(err)
		}
		h := &fixture{t: t, binary: binary, data: filepath.Join(dir, "data"), clock: clock}
		p[i] = h
		cmd := exec.Command(binary, serving.Args(h.data, "--storage-url", dsn, "--signup", "open")...)
		cmd.Env = append(os.Environ(), clock.Variable(), "KEYSTILE_MASTER_KEY="+key)
		if h.server, err = serving.Start(cmd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close(); h.server.End(syscall.SIGTERM); clock.Close() })
		if i > 0 { // the first one has made the administrator and the application
			first, err := os.ReadFile(filepath.Join(p[0].data, "first-run.json"))
			if err == nil {
				err = os.WriteFile(filepath.Join(h.data, "first-run.json"), first, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if h.Client, err = serving.NewClient(h.server.Address, h.data); err != nil {
			t.Fatal(err)
		}
	}
	// The tier then holds at a node that is nearly as far behind, too.
	p.set(-time.Minute, 0)
	p[0].command("tier set", nil, p[0].FirstRun.App.ID, "enterprise") // no rate
	p.set(0, 0)
	time.Sleep(2 * time.Second) // the other node knows it within one
	return p
}

// set sets the clocks.
func (p pair) set(ahead ...time.Duration) {
	for i, h := range p {
		h.must(h.clock.Set(ahead[i]))
	}
}

// becomes waits until something holds at a node, for as long as it may take to get there: a second or so.
func (h *fixture) becomes(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Errorf("%s\n%s", what, h.server.Log)
			return
		}
	}
}

// ready reports whether a node says that requests may be sent to it. An answer of 503 to a request is an error.
func (h *fixture) ready() bool {
	a, err := h.Get("/healthz/ready", "Accept", "*/*")
	return err == nil && a.Status == http.StatusOK
}

// round has somebody grant something at one node, ends it at another, and has them sign in again.
func (p pair) round(way, name string, at, by *fixture) {
	at.t.Helper()
	at.command("user create", []string{"username", name, "password", password})
	at.as(name, password)
	granted := at.grant()
	ways[way](by, name)
	where := fmt.Sprintf("%s, granted at node %d and ended at node %d: ", way, index(p, at), index(p, by))
	if status := by.status(granted.Access); status != http.StatusUnauthorized {
		by.t.Errorf("%sthe access token is answered %d where it was ended", where, status)
	}
	at.becomes(where+"the access token goes on at the other node",
		func() bool { return at.status(granted.Access) == http.StatusUnauthorized })
	for i, h := range p {
		if _, works := h.refreshes(granted.Refresh); works {
			h.t.Errorf("%sthe refresh token is good at node %d", where, i)
			return
		}
	}
	with := password
	if way == "a new password" {
		with = "another one of this test"
	}
	for i, h := range p {
		h.as(name, with)
		again := h.grant()
		for k, other := range p {
			if status := other.status(again.Access); status != http.StatusOK {
				other.t.Errorf("%sthe token of who signs in at node %d afterwards is answered %d at node %d", where, i, status, k)
			}
		}
		if _, works := p[1-i].refreshes(again.Refresh); !works {
			h.t.Errorf("%swhat is granted at node %d afterwards cannot be refreshed at the other", where, i)
		}
	}
}

func index(p pair, h *fixture) int {
	if p[0] == h {
		return 0
	}
	return 1
}

// A session that ends at one node ends at the other, and a user who signs in afterwards is let in at both, at once,
// whatever their clocks say: some seconds apart, nearly a minute, and after one of them was a day ahead for a
// moment.
//
// CLOCK_ROUNDS is how many times each of that is tried, 3 by default.
func TestClockIsOneForAllNodes(t *testing.T) {
	p := openPair(t)
	rounds := 3
	if set := os.Getenv("CLOCK_ROUNDS"); set != "" {
		var err error
		if rounds, err = strconv.Atoi(set); err != nil {
			t.Fatal(err)
		}
	}
	tries := 0
	try := func(t *testing.T) {
		for _, h := range p {
			h.t = t
		}
		for range rounds {
			for way := range ways {
				at := rand.IntN(2)
				tries++
				if p.round(way, fmt.Sprint("user-", tries), p[at], p[1-at]); t.Failed() {
					return
				}
			}
		}
	}
	for _, clocks := range [][2]time.Duration{{4 * time.Second, -4 * time.Second}, {-4 * time.Second, 4 * time.Second},
		{50 * time.Second, 0}, {-50 * time.Second, 0}, {50 * time.Second, -50 * time.Second}} {
		t.Run(fmt.Sprint(clocks), func(t *testing.T) {
			p.set(clocks[:]...)
			try(t)
		})
	}
	t.Run("a day ahead for a moment", func(t *testing.T) {
		for _, h := range p {
			h.t = t
		}
		p.set(0, day)
		b := p[1]
		b.becomes("a node whose clock is a day ahead says that it is ready", func() bool {
			return !b.ready()
		})
		if a, err := b.Post("/oauth/token", b.Form("grant_type", "client_credentials")); err == nil ||
			!strings.Contains(err.Error(), " 503 ") {
			t.Errorf("a node whose clock is a day ahead grants: %v, %v", a, err)
		}
		p.set(0, 0)
		b.becomes("a node whose clock is right again is not ready", func() bool {
			return b.ready()
		})
		try(t)
	})
	if tries == 0 {
		t.Error("nothing was tried")
	}
}
