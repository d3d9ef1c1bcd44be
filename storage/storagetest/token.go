package storagetest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func issuing() []promise {
	return []promise{
		{name: "every field of an issued token comes back", test: issuedFields},
		{name: "every field of a successor comes back", test: successorFields},
		{name: "empty fields stay empty and zero times stay zero", test: emptyFields},
		{name: "no token has a key that no one issued", test: func(t testing.TB, b driver.Backend) {
			issue(t, b, token("a"))
			absent(t, b, token("a"))
		}},
		{name: "a taken key is refused and the token behind it stays", test: takenKey},
		{name: "with one taken key none of the tokens is stored", test: func(t testing.TB, b driver.Backend) {
			old, first, last := token("a"), token("a"), token("a")
			issue(t, b, old)
			want(t, "Issue(fresh, taken, fresh)", b.Issue(t.Context(), first, old, last), driver.ErrExists)
			absent(t, b, first, last)
		}},
		{name: "with one key twice none of the tokens is stored", test: func(t testing.TB, b driver.Backend) {
			first, twice := token("a"), token("a")
			want(t, "Issue(fresh, x, x)", b.Issue(t.Context(), first, twice, twice), driver.ErrExists)
			absent(t, b, first, twice)
		}},
		{name: "keys that share the time are different keys", test: sameTime},
		{name: "of 32 issues of one key one wins", test: issueRace},
		{name: "a canceled call does its work or answers the context's error", test: canceled},
	}
}

// full returns a token with something in every field, on a clock that is not in UTC.
func full(t testing.TB) driver.Token {
	x := driver.Token{Key: token("").Key}
	fields := reflect.ValueOf(&x).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		switch f := fields.Field(i).Addr().Interface().(type) {
		case *driver.Key:
		case *string:
			*f = name + ` "é\<&>` + "\u2028\x01中 "
		case *time.Time:
			*f = abroad(at(i).Add(time.Duration(i)))
		default:
			t.Fatalf("Token.%s is a %T: teach storagetest to fill it", name, f)
		}
	}
	return x
}

// sameToken compares all fields, those that will be added included.
func sameToken(t testing.TB, got, put driver.Token) {
	t.Helper()
	g, p := reflect.ValueOf(got), reflect.ValueOf(put)
	for i := range g.NumField() {
		name := g.Type().Field(i).Name
		a, b := g.Field(i).Interface(), p.Field(i).Interface()
		if moment, ok := a.(time.Time); ok {
			if !same(moment, b.(time.Time)) {
				t.Errorf("Token(key).%s = %v, want %v in UTC", name, a, b)
			}
		} else if a != b {
			t.Errorf("Token(key).%s = %q, want %q", name, a, b)
		}
	}
}

func issuedFields(t testing.TB, b driver.Backend) {
	put := full(t)
	issue(t, b, token("a"), put, token("b"))
	sameToken(t, read(t, b, put.Key), put)
}

func successorFields(t testing.TB, b driver.Backend) {
	old, next := token("a"), full(t)
	issue(t, b, old)
	want(t, "Exchange(token, next)", b.Exchange(t.Context(), old.Key, abroad(at(7)), next), nil)
	sameToken(t, read(t, b, next.Key), next)
	old.SpentAt = at(7)
	sameToken(t, read(t, b, old.Key), old)
}

func emptyFields(t testing.TB, b driver.Backend) {
	empty := driver.Token{Key: token("").Key}
	issue(t, b, empty)
	sameToken(t, read(t, b, empty.Key), empty)
}

func takenKey(t testing.TB, b driver.Backend) {
	old := token("a")
	issue(t, b, old)
	other := token("b")
	other.Key = old.Key
	want(t, "Issue(taken)", b.Issue(t.Context(), other), driver.ErrExists)
	sameToken(t, read(t, b, old.Key), old)

	want(t, "Exchange(token)", b.Exchange(t.Context(), old.Key, at(1)), nil)
	want(t, "Issue(taken by a spent token)", b.Issue(t.Context(), other), driver.ErrExists)
	old.SpentAt = at(1)
	sameToken(t, read(t, b, old.Key), old)
}

func sameTime(t testing.TB, b driver.Backend) {
	first, last := token("a"), token("b")
	last.Key = first.Key
	last.Key[len(last.Key)-1]++
	issue(t, b, first, last)
	sameToken(t, read(t, b, first.Key), first)
	sameToken(t, read(t, b, last.Key), last)
}

func issueRace(t testing.TB, b driver.Backend) {
	rivals := make([]driver.Token, 32)
	for i := range rivals {
		rivals[i] = token(string(rune('A' + i)))
		rivals[i].Key = rivals[0].Key
	}
	verdicts := together(len(rivals), func(i int) error { return b.Issue(t.Context(), rivals[i]) })
	winner := slices.Index(verdicts, nil)
	oneWins(t, "Issue(one key)", verdicts, driver.ErrExists)
	sameToken(t, read(t, b, rivals[winner].Key), rivals[winner])
}

func canceled(t testing.TB, b driver.Backend) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		x := token("a")
		if err := b.Issue(ctx, x); err != nil {
			want(t, "Issue(canceled, token)", err, context.Canceled)
			continue
		}
		sameToken(t, read(t, b, x.Key), x)
	}
}
