package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// crowding are promises about many who write the same records at once. A database that takes
// its locks one by one ends some of these calls as deadlocks, and others half done.
func crowding() []promise {
	return []promise{
		{name: "8 writers who move units between documents in any order lose none, and every page shows all", test: transfers},
		{name: "8 creations of the same documents in opposite orders: one wins whole, the others are refused", test: oppositeCreations},
		{name: "8 issues of the same keys in opposite orders: one wins whole, the others are refused", test: oppositeIssues},
		{name: "8 exchanges that bring the same successors in opposite orders: one wins whole", test: oppositeSuccessors},
		{name: "8 callers who revoke the same in opposite orders are all answered, and the latest ends stay", test: oppositeRevokes},
		{name: "8 nodes that count on the same rows in opposite orders are all answered, and lose nothing", test: oppositeCounts},
		{name: "of 16 exchanges beside revocations at most one wins, none that began behind one, and no successor", test: exchangeBesideRevoke},
		{name: "a reader beside it sees all of an Issue, an Exchange or a Count, or nothing", test: halfSeen},
	}
}

// backwards is a copy of a list, turned round for every second caller.
func backwards[T any](caller int, list []T) []T {
	list = slices.Clone(list)
	if caller%2 == 1 {
		slices.Reverse(list)
	}
	return list
}

func transfers(t testing.TB, b driver.Backend) {
	const accounts, units, writers, each = 6, 20, 8, 8
	var docs []driver.Doc
	for i := range accounts {
		d := doc(fmt.Sprint(i), "account")
		d.Data = []byte{units}
		docs = append(docs, d)
	}
	put(t, b, docs...)
	answers := meanwhile(writers, each, func(i, j int) error {
		for {
			page, _, err := b.List(t.Context(), "thing", driver.Is("account"), accounts)
			if err != nil || len(page) != accounts {
				return fmt.Errorf("%d accounts: %w", len(page), err)
			}
			from, to, seen := &page[(i+j)%accounts], &page[(i*3+j+1)%accounts], page[(i+2*j+3)%accounts]
			moved := []driver.Doc{*from, *to, seen}
			if from.ID == to.ID || seen.ID == from.ID || seen.ID == to.ID {
				moved = []driver.Doc{page[i%2], page[5-i%2], page[2+i%2]}
			}
			if moved[0].Data[0] > 0 {
				moved[0].Data[0]--
				moved[1].Data[0]++
			}
			if _, err = b.Put(t.Context(), backwards(i, moved)...); !errors.Is(err, driver.ErrConflict) {
				return err
			}
		}
	}, func() {
		page, _, err := b.List(t.Context(), "thing", driver.Is("account"), accounts)
		want(t, "List(account)", err, nil)
		sum := 0
		for _, d := range page {
			sum += int(d.Data[0])
		}
		if len(page) != accounts || sum != accounts*units {
			t.Fatalf("List(account) shows %d units in %d documents beside Puts that move them, want %d in %d", sum, len(page), accounts*units, accounts)
		}
	})
	allNil(t, "Put(three accounts)", answers)
}

func oppositeCreations(t testing.TB, b driver.Backend) {
	for round := range 5 {
		entry := fmt.Sprint("round ", round)
		answers := together(8, func(i int) error {
			var docs []driver.Doc
			for j := range 12 {
				d := doc(fmt.Sprint(round, " ", j), entry)
				d.Data = []byte{byte(i)}
				docs = append(docs, d)
			}
			_, err := b.Put(t.Context(), backwards(i, docs)...)
			return err
		})
		oneWins(t, "Put(new documents)", answers, driver.ErrExists)
		page, _, err := b.List(t.Context(), "thing", driver.Is(entry), driver.Page)
		want(t, "List(entry)", err, nil)
		if len(page) != 12 {
			t.Fatalf("List(entry) = %d documents of one Put, want 12", len(page))
		}
		for _, d := range page {
			if int(d.Data[0]) != slices.Index(answers, nil) || d.Version != page[0].Version {
				t.Fatalf("document %q is of caller %d in version %d, and Put answered nil to caller %d with %d", d.ID, d.Data[0], d.Version, slices.Index(answers, nil), page[0].Version)
			}
		}
	}
}

func family(n int, name string) (tokens []driver.Token) {
	for range n {
		tokens = append(tokens, token(name))
	}
	return tokens
}

func oppositeIssues(t testing.TB, b driver.Backend) {
	for range 5 {
		tokens := family(12, "a")
		answers := together(8, func(i int) error {
			mine := backwards(i, tokens)
			for j := range mine {
				mine[j].Nonce = fmt.Sprint(i)
			}
			return b.Issue(t.Context(), mine...)
		})
		oneWins(t, "Issue(tokens)", answers, driver.ErrExists)
		winner := fmt.Sprint(slices.Index(answers, nil))
		for _, x := range tokens {
			if got := read(t, b, x.Key); got.Nonce != winner {
				t.Fatalf("a token is of caller %s, and Issue answered nil to caller %s", got.Nonce, winner)
			}
		}
	}
}

func oppositeSuccessors(t testing.TB, b driver.Backend) {
	for range 5 {
		codes, nexts := family(8, "a"), family(12, "a")
		issue(t, b, codes...)
		answers := together(8, func(i int) error {
			return b.Exchange(t.Context(), codes[i].Key, at(1), backwards(i, nexts)...)
		})
		oneWins(t, "Exchange(code, same successors)", answers, driver.ErrExists)
		for i, x := range codes {
			if spent := !read(t, b, x.Key).SpentAt.IsZero(); spent != (answers[i] == nil) {
				t.Fatalf("Exchange(code, same successors) = %v, and the code is spent: %v", answers[i], spent)
			}
		}
		for _, x := range nexts {
			sameToken(t, read(t, b, x.Key), x)
		}
	}
}

func oppositeRevokes(t testing.TB, b driver.Backend) {
	const callers, ids = 8, 12
	for round := range 4 {
		allNil(t, "Revoke(revocations)", together(callers, func(i int) error {
			var rs []driver.Revocation
			for j := range ids {
				rs = append(rs, driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint(j), Before: at(round*callers + i), Until: at(900 + round*callers - i)})
			}
			return b.Revoke(t.Context(), backwards(i, rs)...)
		}))
		got := feed(t, b, 0)
		if len(got) != ids {
			t.Fatalf("Revocations(0) = %d revocations, want %d", len(got), ids)
		}
		for _, r := range got {
			sameRevocation(t, r, driver.Revocation{Kind: r.Kind, ID: r.ID, Before: at(round*callers + 7), Until: at(900 + round*callers)})
		}
	}
}

func oppositeCounts(t testing.TB, b driver.Backend) {
	const nodes, batches, products = 8, 5, 12
	var adds, perHour, perDay []driver.Count
	for i := range products {
		name := fmt.Sprintf("%02d", i)
		adds = append(adds, calls(name, at(0), 10), calls(name, at(0), 20))
		perHour = append(perHour, calls(name, driver.Hour(at(0)), 30*nodes*batches))
		perDay = append(perDay, calls(name, driver.Day(at(0)), 30*nodes*batches))
	}
	allNil(t, "Count(batch)", together(nodes, func(i int) error {
		for seq := range uint64(batches) {
			if err := b.Count(t.Context(), driver.Batch{Node: fmt.Sprint("node ", i), Seq: seq + 1}, backwards(i, adds)); err != nil {
				return err
			}
		}
		return nil
	}))
	usage(t, b, hours("app"), perHour...)
	usage(t, b, days("app"), perDay...)
}

func exchangeBesideRevoke(t testing.TB, b driver.Backend) {
	for round := range 12 {
		code := token(fmt.Sprint(round))
		issue(t, b, code)
		kinds := []driver.Revocation{
			{Kind: driver.RevokeGrant, ID: code.Grant, Until: at(600)},
			{Kind: driver.RevokeApp, ID: code.AppID, Before: at(600), Until: at(600)},
			{Kind: driver.RevokeUser, ID: code.UserID, Before: at(600), Until: at(600)},
			{Kind: driver.RevokeConsent, ID: driver.ConsentID(code.AppID, code.UserID), Before: at(600), Until: at(600)},
		}
		var revoked atomic.Bool
		nexts := family(16, fmt.Sprint(round))
		answers := together(18, func(i int) error {
			if i >= 16 {
				err := b.Revoke(t.Context(), kinds[(round+i)%4])
				revoked.Store(true)
				return err
			}
			behind := revoked.Load()
			err := b.Exchange(t.Context(), code.Key, at(1), nexts[i])
			if err == nil && behind {
				return errors.New("an exchange that began behind Revoke has won")
			}
			return err
		})
		won := -1
		for i, err := range answers[:16] {
			switch {
			case err == nil && won < 0:
				won = i
			case err == nil:
				t.Fatalf("exchanges %d and %d of one code have won", won, i)
			case !errors.Is(err, driver.ErrSpent) && !errors.Is(err, driver.ErrRevoked):
				t.Fatalf("Exchange(code) beside Revoke = %v, want ErrSpent or ErrRevoked", err)
			}
		}
		allNil(t, "Revoke(grant)", answers[16:])
		if spent := !read(t, b, code.Key).SpentAt.IsZero(); spent != (won >= 0) {
			t.Fatalf("the code is spent: %v, and an exchange has won: %v", spent, won >= 0)
		}
		for i, x := range nexts {
			if i != won {
				absent(t, b, x)
				continue
			}
			want(t, "Exchange(successor beside a revocation)", b.Exchange(t.Context(), x.Key, at(2)), driver.ErrRevoked)
		}
	}
}

func halfSeen(t testing.TB, b driver.Backend) {
	const writers, each = 3, 8
	var codes, nexts, issued [writers][each][]driver.Token
	for i := range writers {
		for j := range each {
			codes[i][j], nexts[i][j], issued[i][j] = family(1, "a"), family(3, "a"), family(3, "a")
			issue(t, b, codes[i][j]...)
		}
	}
	isThere := func(x driver.Token) bool {
		_, err := b.Token(t.Context(), x.Key)
		return err == nil
	}
	sum := func(q driver.UsageQuery) (calls int64) {
		rows, err := b.Usage(t.Context(), q)
		want(t, "Usage(app)", err, nil)
		for _, c := range rows {
			calls += c.Calls
		}
		return calls
	}
	var at1 [writers]atomic.Int64 // where each writer is
	answers := meanwhile(writers, each, func(i, j int) error {
		at1[i].Store(int64(j))
		batch := driver.Batch{Node: fmt.Sprint(i), Seq: uint64(j + 1)}
		return errors.Join(
			b.Issue(t.Context(), issued[i][j]...),
			b.Exchange(t.Context(), codes[i][j][0].Key, at(1), nexts[i][j]...),
			b.Count(t.Context(), batch, []driver.Count{calls("a", at(0), 1), calls("b", at(60), 1)}))
	}, func() {
		for i := range writers {
			j := at1[i].Load()
			if isThere(issued[i][j][0]) && !isThere(issued[i][j][2]) || isThere(issued[i][j][2]) && !isThere(issued[i][j][0]) {
				t.Fatal("one token of an Issue is there, and another is not")
			}
			if isThere(nexts[i][j][2]) && read(t, b, codes[i][j][0].Key).SpentAt.IsZero() {
				t.Fatal("what follows a code is there, and the code is not spent")
			}
			if !read(t, b, codes[i][j][0].Key).SpentAt.IsZero() && !isThere(nexts[i][j][2]) {
				t.Fatal("a code is spent, and what follows it is not there")
			}
		}
		perHour := sum(hours("app"))
		if perDay := sum(days("app")); perDay < perHour || perHour%2 != 0 {
			t.Fatalf("%d calls by the hour, and then %d by the day", perHour, perDay)
		}
		perDay := sum(days("app"))
		if perHour := sum(hours("app")); perHour < perDay {
			t.Fatalf("%d calls by the day, and then %d by the hour", perDay, perHour)
		}
	})
	allNil(t, "Issue, Exchange, Count", answers)
}
