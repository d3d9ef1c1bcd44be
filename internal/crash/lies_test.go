package main

import "testing"

// lies are what a journal can say that is not so, and how the check must put it.
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
	{"a user nobody made", "does not work", func(*testing.T, *life) []*thing {
		return []*thing{{kind: aUser, name: "nobody", secret: "nothing"}}
	}},
	{"another value of the setting", "does not work", func(*testing.T, *life) []*thing {
		return []*thing{{kind: aSetting, name: "1"}}
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
