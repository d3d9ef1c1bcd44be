package main

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

func TestTwoKillsLoseNothing(t *testing.T) {
	c := newTestCampaign(t, 2)
	if err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.journal.violations {
		t.Error(v)
	}
	if c.kills < 4 || c.journal.asked < 10 {
		t.Errorf("%d kills and %d questions: it checks nothing", c.kills, c.journal.asked)
	}
	if c.journal.of(rotate).acknowledged == 0 || c.journal.of(changeValue).acknowledged == 0 {
		t.Error("the clients do nothing")
	}
}

// The check can not pass by checking nothing.
func TestALieInTheJournalIsFound(t *testing.T) {
	c := newTestCampaign(t, 0)
	s, l, err := c.begin()
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	defer l.close()
	for _, lie := range lies {
		t.Run(lie.name, func(t *testing.T) {
			things := lie.plant(t, l)
			l.journal.things, l.journal.violations = nil, nil
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
		})
	}
}

func TestOtherKeysAreFound(t *testing.T) {
	c := newTestCampaign(t, 0)
	for _, want := range []int{0, 1} {
		s, l, err := c.begin()
		if err != nil {
			t.Fatal(err)
		}
		l.close()
		s.kill()
		if len(c.journal.violations) != want {
			t.Errorf("the check says %q, want %d violations", c.journal.violations, want)
		}
		c.jwks = []byte(`{"keys":[]}`)
	}
}

func TestAServerThatEndsByItselfIsFound(t *testing.T) {
	c := newTestCampaign(t, 0)
	s, l, err := c.begin()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	s.kill()
	if _, err := l.get("/oauth/jwks", "", ""); err == nil || len(c.journal.violations) != 1 {
		t.Errorf("get(a dead server) = %v, and the check says %q", err, c.journal.violations)
	}
}

func TestALostAnswerIsSettledOnce(t *testing.T) {
	j := newJournal()
	token := j.add(&thing{kind: aRefresh, name: "rt_x", family: &family{}}, "handed out")
	j.begin(rotate, token)
	j.judge(token, probed{works: false})
	if !token.ended || len(j.violations) > 0 || j.of(rotate).happened != 1 {
		t.Fatalf("after a lost answer ended = %t, violations %q", token.ended, j.violations)
	}
	j.judge(token, probed{works: true})
	if len(j.violations) != 1 {
		t.Error("a token that was refused once may not work later")
	}
}

func newTestCampaign(t *testing.T, cycles int) *campaign {
	t.Helper()
	return newCampaign(options{cycles: cycles, seed: rand.Uint64(), binary: binary}, filepath.Join(t.TempDir(), "data"))
}
