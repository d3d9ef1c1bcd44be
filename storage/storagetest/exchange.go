package storagetest

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func exchanging() []promise {
	return []promise{
		{name: "an exchange spends the token at the given time and stores all that follows", test: spendAndStore},
		{name: "an exchange that nothing follows only spends", test: func(t testing.TB, b driver.Backend) {
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(token)", b.Exchange(t.Context(), x.Key, at(1)), nil)
			want(t, "Exchange(token) again", b.Exchange(t.Context(), x.Key, at(2)), driver.ErrSpent)
			x.SpentAt = at(1)
			sameToken(t, read(t, b, x.Key), x)
		}},
		{name: "what follows can be exchanged in its turn", test: rotation},
		{name: "an expired token can be exchanged: expiry is judged by who reads it",
			test: func(t testing.TB, b driver.Backend) {
				x := token("a")
				issue(t, b, x)
				want(t, "Exchange(expired)", b.Exchange(t.Context(), x.Key, x.ExpiresAt.AddDate(1, 0, 0)), nil)
			}},
		{name: "an exchange leaves other tokens alone", test: func(t testing.TB, b driver.Backend) {
			x, sibling := token("a"), token("a")
			issue(t, b, x, sibling)
			want(t, "Exchange(token)", b.Exchange(t.Context(), x.Key, at(1)), nil)
			sameToken(t, read(t, b, sibling.Key), sibling)
			want(t, "Exchange(sibling)", b.Exchange(t.Context(), sibling.Key, at(2)), nil)
		}},
		{name: "of 32 exchanges of one token one wins, and only what follows the winner is stored", test: exchangeRace},
		{name: "of 16 exchanges that bring the same successor one wins, and the others spend nothing", test: successorRace},
	}
}

func spendAndStore(t testing.TB, b driver.Backend) {
	code, access, refresh := token("a"), token("a"), token("a")
	issue(t, b, code)
	want(t, "Exchange(code)", b.Exchange(t.Context(), code.Key, at(3), access, refresh), nil)
	code.SpentAt = at(3)
	for _, x := range []driver.Token{code, access, refresh} {
		sameToken(t, read(t, b, x.Key), x)
	}
}

func rotation(t testing.TB, b driver.Backend) {
	x := token("a")
	issue(t, b, x)
	for i := range 10 {
		next := token("a")
		want(t, "Exchange(token, next)", b.Exchange(t.Context(), x.Key, at(i), next), nil)
		want(t, "Exchange(token, next) again", b.Exchange(t.Context(), x.Key, at(i), token("a")), driver.ErrSpent)
		x = next
	}
}

func exchangeRace(t testing.TB, b driver.Backend) {
	for range 4 {
		code := token("a")
		issue(t, b, code)
		nexts := make([]driver.Token, 32)
		for i := range nexts {
			nexts[i] = token("a")
		}
		verdicts := together(len(nexts), func(i int) error {
			return b.Exchange(t.Context(), code.Key, at(i), nexts[i])
		})
		oneWins(t, "Exchange(code, next)", verdicts, driver.ErrSpent)
		winner := slices.Index(verdicts, nil)
		code.SpentAt = at(winner)
		sameToken(t, read(t, b, code.Key), code)
		sameToken(t, read(t, b, nexts[winner].Key), nexts[winner])
		absent(t, b, slices.Delete(nexts, winner, winner+1)...)
	}
}

func successorRace(t testing.TB, b driver.Backend) {
	next := token("next")
	tokens := make([]driver.Token, 16)
	for i := range tokens {
		tokens[i] = token("a")
	}
	issue(t, b, tokens...)
	verdicts := together(len(tokens), func(i int) error {
		return b.Exchange(t.Context(), tokens[i].Key, at(1), next)
	})
	oneWins(t, "Exchange(token, same next)", verdicts, driver.ErrExists)
	for i, x := range tokens {
		if spent := !read(t, b, x.Key).SpentAt.IsZero(); spent != (verdicts[i] == nil) {
			t.Errorf("Exchange(token, same next) = %v, and the token is spent: %v", verdicts[i], spent)
		}
	}
}
