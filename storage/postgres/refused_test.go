package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// A caller that was refused, and has not heard of it, is not taken for the one whose work was in the way.
func TestRefusalThatIsLostIsNoSuccess(t *testing.T) {
	dsn := address(t, direct)
	schema := newSchema(t)
	w, through := newWire(t, dsn)
	s := open(t, through, postgres.Options{Schema: schema, Conns: 1})
	s.RepeatAfter(time.Millisecond)
	defer s.Close()
	other := open(t, dsn, postgres.Options{Schema: schema})
	defer other.Close()
	ctx, at, id := t.Context(), time.Now().UTC(), 0
	token := func() driver.Token {
		return driver.Token{Key: handle.KeyOf(handle.New(handle.RefreshPrefix, at)), Grant: "g", IssuedAt: at,
			ExpiresAt: at.Add(time.Hour)}
	}
	spent := func() driver.Token {
		x := token()
		if err := errors.Join(other.Issue(ctx, x), other.Exchange(ctx, x.Key, at)); err != nil {
			t.Fatal(err)
		}
		return x
	}
	put := func() driver.Doc {
		id++
		d := driver.Doc{Kind: "k", ID: fmt.Sprint(id), Data: []byte("same")}
		if _, err := other.Put(ctx, d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, do := range map[string]func() error{
		"Exchange":             func() error { return s.Exchange(ctx, spent().Key, at, token()) },
		"Exchange for nothing": func() error { return s.Exchange(ctx, spent().Key, at) },
		"Put":                  func() error { _, err := s.Put(ctx, put()); return err },
		"Put in place": func() error {
			d := put()
			d.Version = 1 << 40
			_, err := s.Put(ctx, d)
			return err
		},
		"Put that removes": func() error {
			d := put()
			d.Version, d.Deleted = 1<<40, true
			_, err := s.Put(ctx, d)
			return err
		},
	} {
		loseAll(w, 2, func(gaps []int) {
			if err := do(); err == nil {
				t.Errorf("%s: the answers %v were lost, and it succeeded", name, gaps)
			}
		})
	}
}
