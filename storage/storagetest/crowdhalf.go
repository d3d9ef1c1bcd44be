package storagetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

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
