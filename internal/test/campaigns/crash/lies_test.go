package main

import (
	"testing"
	"time"
)

// lies list what a journal can say that is not so, and how the check must put it. A server that
// has forgotten what it acknowledged looks the same.
var lies = []struct {
	name, want string
	plant      func(*testing.T, *life) []*thing
}{
	{"a refresh token nobody gave", "does not work", func(_ *testing.T, l *life) []*thing {
		return []*thing{{kind: aRefresh, name: "rt_nobody", family: &family{}}}
	}},
	{"a refresh token that was not replaced", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(granted(t, l).newest)}
	}},
	{"a refresh token that was replaced", "does not work", func(t *testing.T, l *life) []*thing {
		f := granted(t, l)
		old := f.newest
		must(t)(0, (&holder{life: l}).rotate(f))
		return []*thing{turned(old)}
	}},
	{"a code that was not used", "had ended, and works", func(t *testing.T, l *life) []*thing {
		code, _, err := l.authorize()
		must(t)(0, err)
		return []*thing{turned(code)}
	}},
	{"a code that was used", "does not work", func(t *testing.T, l *life) []*thing {
		code, _, err := l.authorize()
		must(t)(l.exchange(code))
		must(t)(0, err)
		return []*thing{code}
	}},
	{"an access token that was not revoked", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(granted(t, l).access[0])}
	}},
	{"an access token that was revoked", "does not work", func(t *testing.T, l *life) []*thing {
		token := granted(t, l).access[0]
		must(t)(l.revoke(token))
		return []*thing{token}
	}},
	{"an application nobody made", "does not work", func(*testing.T, *life) []*thing {
		return []*thing{{kind: anApp, name: "ksnobody", secret: "nothing"}}
	}},
	{"a secret that was not rotated", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(kept(t, l).secrets[0])}
	}},
	{"a secret that was rotated", "does not work", func(t *testing.T, l *life) []*thing {
		k := kept(t, l)
		old := k.secrets[0]
		must(t)(l.run("app rotate-secret", []string{"overlap", "0s"}, k.app.ID))
		return []*thing{old}
	}},
	{"a secret that works beyond its end", "had ended, and works", func(t *testing.T, l *life) []*thing {
		s := kept(t, l).secrets[0]
		s.until = time.Now().Add(-time.Minute)
		return []*thing{s}
	}},
	{"a user nobody made", "does not work", func(*testing.T, *life) []*thing {
		return []*thing{{kind: aPassword, name: "nobody", secret: "nothing"}}
	}},
	{"a password that was not changed", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(joined(t, l, "unchanged").password)}
	}},
	{"a password that was changed", "does not work", func(t *testing.T, l *life) []*thing {
		m := joined(t, l, "changed")
		old := m.password
		must(t)(0, m.change())
		return []*thing{turned(old)}
	}},
	{"a session that was not signed out", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(joined(t, l, "in").sessions[0])}
	}},
	{"a session that was signed out", "does not work", func(t *testing.T, l *life) []*thing {
		m := joined(t, l, "out")
		s := m.sessions[0]
		must(t)(0, m.signOut())
		return []*thing{turned(s)}
	}},
	{"a user who was not disabled", "had ended, and works", func(t *testing.T, l *life) []*thing {
		w := &userDisabler{life: l}
		must(t)(0, w.begin())
		return []*thing{turned(w.stands)}
	}},
	{"another value of the setting", "does not work", func(*testing.T, *life) []*thing {
		return []*thing{{kind: aSetting, name: "1"}}
	}},
	{"an order nobody made", "does not work", func(t *testing.T, l *life) []*thing {
		return []*thing{{kind: anOrder, name: "or20261121150405abcdefghij", secret: "pending", of: buying(t, l).app.ID}}
	}},
	{"an approval that was forgotten", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(buying(t, l).open["pending"])}
	}},
	{"a tier that was forgotten", "does not work", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(buying(t, l).tiers[whiteLabel])}
	}},
	{"an order that is approved, and its tier is not there", "a part", func(t *testing.T, l *life) []*thing {
		b := buying(t, l)
		canceled, tier := b.open["canceled"], b.tiers[whiteLabel]
		must(t)(0, b.cancel())
		things := []*thing{turned(canceled), tier}
		l.journal.begin(approveOrder, things...)
		return things
	}},
	{"a consent that was not taken back", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(trusting(t, l, "trusts").consent)}
	}},
	{"a consent that was taken back", "does not work", func(t *testing.T, l *life) []*thing {
		u := trusting(t, l, "doubts")
		must(t)(0, u.takeBack())
		return []*thing{turned(u.consent)}
	}},
	{"a token that did not end with its consent", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(trusting(t, l, "holds").grants[0].access[0])}
	}},
	{"a capability that was forgotten", "does not work", func(t *testing.T, l *life) []*thing {
		must(t)(0, published(t, l, "x").check(l))
		return []*thing{{kind: aTool, name: "nobody__r1"}}
	}},
	{"a capability that was not removed", "had ended, and works", func(t *testing.T, l *life) []*thing {
		p := published(t, l, "y")
		must(t)(0, p.check(l))
		return []*thing{turned(p.alive[0].tool)}
	}},
	{"a mailed code that was not used", "had ended, and works", func(t *testing.T, l *life) []*thing {
		return []*thing{turned(mailedTo(t, l, 1))}
	}},
	{"a mailed code that was used", "does not work", func(t *testing.T, l *life) []*thing {
		code := mailedTo(t, l, 2)
		must(t)(l.typeIn(code))
		return []*thing{code}
	}},
	{"half of a family revoked", "a part", func(t *testing.T, l *life) []*thing {
		f := granted(t, l)
		must(t)(l.revoke(f.access[0]))
		half := []*thing{f.newest, f.access[0]}
		l.journal.begin(revokeFamily, half...)
		return half
	}},
}

func granted(t *testing.T, l *life) *family {
	t.Helper()
	h := &holder{life: l}
	must(t)(0, h.open())
	return h.families[0]
}

func kept(t *testing.T, l *life) *secretRotator {
	t.Helper()
	k := &secretRotator{life: l, rand: dice()}
	must(t)(0, k.begin())
	return k
}

func joined(t *testing.T, l *life, name string) *member {
	t.Helper()
	p := got(l.makeUser(name))(t)
	return &member{life: l, rand: dice(), password: p, sessions: []*thing{got(l.enter(p))(t)}}
}

func buying(t *testing.T, l *life) *buyer {
	t.Helper()
	b := &buyer{life: l, rand: dice()}
	must(t)(0, b.begin())
	must(t)(0, b.order())
	return b
}

func trusting(t *testing.T, l *life, name string) *truster {
	t.Helper()
	u := &truster{life: l, rand: dice(), user: got(l.makeUser(name))(t)}
	u.session = got(l.enter(u.user))(t)
	must(t)(0, u.step()) // an application
	must(t)(0, u.allow())
	u.grants = []*family{got(l.grant(u.app, u.session.name))(t)}
	return u
}

func published(t *testing.T, l *life, member string) *publisher {
	t.Helper()
	p := &publisher{life: l, rand: dice(), receiver: received(t)}
	must(t)(0, p.step()) // an application
	must(t)(0, p.register(&capability{member: member}))
	return p
}

func mailedTo(t *testing.T, l *life, n int) *thing {
	t.Helper()
	p := &postman{life: l, count: 1000 * n}
	must(t)(0, p.ask())
	for range 1000 {
		if code := l.arrived(p.asked); code != nil {
			return code
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("no mail comes")
	return nil
}

// turned makes the journal say the opposite.
func turned(t *thing) *thing {
	t.ended = !t.ended
	return t
}

func must(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func got[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
