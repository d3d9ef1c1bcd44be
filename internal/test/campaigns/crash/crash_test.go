package main

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/test/campaigns/crash/internal/hooks"
	"github.com/keystile/keystile/internal/test/pgserver"
)

func TestCrashTwiceLosesNothing(t *testing.T) {
	c := newTestCampaign(t, 2)
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.journal.violations {
		t.Error(v)
	}
	if c.nodes.kills < 4 || c.journal.asked < 10 || c.trail.verifies < 3 || c.trail.read == 0 {
		t.Errorf("%d kills, %d questions and %d looks at a trail of %d: it checks nothing", c.nodes.kills, c.journal.asked,
			c.trail.verifies, c.trail.read)
	}
	if c.journal.of(rotate).acknowledged == 0 || c.journal.of(changeValue).acknowledged == 0 {
		t.Error("the clients do nothing")
	}
}

// The database is killed too, under two servers.
func TestKillsOfADatabaseLoseNothing(t *testing.T) {
	if pgserver.Installed() == "" {
		t.Skip("no PostgreSQL is installed")
	}
	c := newTestCampaignOf(t, options{cycles: 2, storage: "postgres", nodes: 2})
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.journal.violations {
		t.Error(v)
	}
	n := c.nodes
	if w := c.watcher.Stats(); n.kills < 4 || c.journal.asked < 10 || w.Rounds < 3 || w.Records == 0 {
		t.Errorf("%d kills, %d questions and %d rounds over a trail of %d: it checks nothing", n.kills, c.journal.asked,
			w.Rounds, w.Records)
	}
}

func TestCrashOfSeveralServersNeedsADatabase(t *testing.T) {
	for _, o := range []options{{storage: "bolt", nodes: 2}, {storage: "paper"}} {
		if _, err := newCampaign(t.Context(), o, t.TempDir()); err == nil || !strings.Contains(err.Error(), "postgres") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Every client does all it can do, and nothing of it is a violation when nobody kills the server.
func TestClientDoesItsWork(t *testing.T) {
	c, l := begun(t)
	p := &publisher{life: l, rand: dice(), receiver: c.receiver}
	for _, w := range []interface{ step() error }{
		&member{life: l, rand: dice()}, &truster{life: l, rand: dice()}, &userDisabler{life: l, rand: dice()},
		&buyer{life: l, rand: dice()},
		p, &secretRotator{life: l, rand: dice()},
	} {
		for range 80 {
			if err := w.step(); err != nil {
				t.Fatalf("%T: %v %q", w, err, c.journal.violations)
			}
		}
	}
	for _, what := range kinds {
		if c.journal.of(what).acknowledged == 0 &&
			!strings.Contains(rotate+revokeAccess+revokeFamily+changeValue+mailCode+useMailed, what) {
			t.Errorf("nobody has done: %s", what)
		}
	}
	must(t)(0, p.check(l))
	if err := c.check(l); err != nil || len(c.journal.violations) > 0 {
		t.Errorf("the check says %v %q", err, c.journal.violations)
	}
}

// begun returns a campaign in a life of a server that nobody kills before the test is over.
func begun(t *testing.T) (*campaign, *life) {
	c := newTestCampaign(t, 0)
	l, err := c.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return c, l
}

func dice() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// The check cannot pass by checking nothing.
func TestLieInTheJournalIsFound(t *testing.T) {
	c, l := begun(t)
	for _, lie := range lies {
		t.Run(lie.name, func(t *testing.T) {
			things := lie.plant(t, l)
			if len(l.journal.violations) > 0 {
				t.Fatalf("without the lie the check says %q", l.journal.violations)
			}
			l.journal.things = nil
			for _, thing := range things {
				l.journal.add(thing, "planted")
			}
			if err := l.journal.check(l, c.rand); err != nil {
				t.Fatal(err)
			}
			found := strings.Join(l.journal.violations, "\n")
			if len(l.journal.violations) != 1 || !strings.Contains(found, lie.want) || !strings.Contains(found, "planted") {
				t.Errorf("the check says %q, want one violation with %q and its lines", found, lie.want)
			}
			l.journal.violations = nil
		})
	}
}

func TestCrashFindsOtherKeys(t *testing.T) {
	c := newTestCampaign(t, 0)
	for _, want := range []int{0, 1} {
		l, err := c.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l.close()
		c.nodes.all[0].kill()
		if len(c.journal.violations) != want {
			t.Errorf("the check says %q, want %d violations", c.journal.violations, want)
		}
		c.jwks = []byte(`{"keys":[]}`)
	}
}

func TestServerThatEndsByItselfIsFound(t *testing.T) {
	c := newTestCampaign(t, 0)
	l, err := c.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	c.nodes.all[0].kill()
	if _, err := l.get("/oauth/jwks"); err == nil || len(c.journal.violations) != 1 {
		t.Errorf("get(a dead server) = %v, and the check says %q", err, c.journal.violations)
	}
}

func TestLostAnswerIsSettledOnce(t *testing.T) {
	j := newJournal()
	token := j.add(&thing{kind: aRefresh, name: "rt_x", family: &family{}}, "handed out")
	j.begin(rotate, token)
	j.verify(token, probed{works: false})
	if !token.ended || len(j.violations) > 0 || j.of(rotate).happened != 1 {
		t.Fatalf("after a lost answer ended = %t, violations %q", token.ended, j.violations)
	}
	j.verify(token, probed{works: true})
	if len(j.violations) != 1 {
		t.Error("a token that was refused once may not work later")
	}
}

func TestWritesAreSettledOneByOne(t *testing.T) {
	j := newJournal()
	gone, there := j.add(&thing{kind: aSession, name: "a"}, "begun"), j.add(&thing{kind: aSession, name: "b"}, "begun")
	j.beginApart(signOutAll, gone, there)
	j.verify(gone, probed{works: false})
	j.verify(there, probed{works: true})
	if len(j.violations) > 0 || !gone.ended || there.ended {
		t.Fatalf("%t, %t, %q: a kill may leave a part of several writes", gone.ended, there.ended, j.violations)
	}
	j.verify(gone, probed{works: true})
	j.verify(there, probed{works: false})
	if len(j.violations) != 2 {
		t.Errorf("%q: what was seen once is what must stay", j.violations)
	}
}

func TestActThatIsNotOnTheTrailIsFound(t *testing.T) {
	c, l := begun(t)
	app := got(l.makeApp("Noted", "free"))(t)
	must(t)(0, c.trail.check(l))
	if c.trail.rows != 1 || len(c.journal.violations) > 0 {
		t.Fatalf("%d acts were found, and the check says %q", c.trail.rows, c.journal.violations)
	}
	c.trail.owe(createApp, "app create "+app.ID) // it was found, and is there once
	c.trail.owe(makeOrder, "a-request-nobody-sent")
	c.trail.owe(register, "a-registration-nobody-made")
	c.trail.owe(signOut, "a-sign-out-nobody-sent")
	c.trail.owe(rotate, "a-rotation") // of which there is no event
	c.trail.heads = append(c.trail.heads, audit.Head{Chain: "cutaway", N: 3, Hash: c.trail.heads[0].Hash})
	must(t)(0, c.trail.check(l))
	found := strings.Join(c.journal.violations, "\n")
	for _, want := range []string{app.ID, "a-request-nobody-sent", "a-registration-nobody-made", "a-sign-out-nobody-sent",
		"cutaway"} {
		if !strings.Contains(found, want) {
			t.Errorf("the check does not say that %s is missing: %q", want, found)
		}
	}
	if strings.Contains(found, "a-rotation") {
		t.Errorf("it says %q of what is not held to be on the trail", found)
	}
}

func TestJournalIsBounded(t *testing.T) {
	j := newJournal()
	for range maxKept + 10 {
		j.add(&thing{kind: aCode, name: "x"}, "issued")
	}
	j.cycle++
	j.due(dice())
	if len(j.things) != maxKept || j.forgotten != 10 {
		t.Errorf("%d things are left and %d forgotten, want %d and 10", len(j.things), j.forgotten, maxKept)
	}
}

func received(t *testing.T) *hooks.Receiver {
	t.Helper()
	r := got(hooks.New())(t)
	t.Cleanup(func() { r.Close() })
	return r
}

func newTestCampaign(t *testing.T, cycles int) *campaign {
	t.Helper()
	return newTestCampaignOf(t, options{cycles: cycles, storage: "bolt"})
}

func newTestCampaignOf(t *testing.T, o options) *campaign {
	t.Helper()
	o.seed, o.binary = rand.Uint64(), program(t)
	c := got(newCampaign(t.Context(), o, filepath.Join(t.TempDir(), "data")))(t)
	t.Cleanup(func() { must(t)(0, c.close()) })
	return c
}
