package storagetest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// cutShort are promises about callers who leave amid a call.
func cutShort() []promise {
	return []promise{
		{name: "a Put that is canceled amid its work happens wholly or not at all", test: cutPut},
		{name: "an Issue or an Exchange that is canceled amid its work happens wholly or not at all", test: cutTokens},
		{name: "a Count that is canceled amid its work and sent again counts once", test: cutCount},
		{name: "a Revoke or an Append that is canceled amid its work happens wholly or not at all", test: cutFeeds},
		{name: "a canceled read answers all there is or the context's error", test: cutReads},
		{name: "a canceled call takes nothing of the calls beside it along", test: cutBeside},
	}
}

// rounds counts how often a call is cut, each time later than the time before.
const rounds = 16

// cut makes a call and cancels it amid its work, later with each round. It reports whether the
// call answered nil.
func cut(t testing.TB, round int, call func(ctx context.Context) error) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		<-began
		for range 1 << round >> 2 {
			runtime.Gosched()
		}
		cancel()
	}()
	close(began)
	err := call(ctx)
	<-done
	if err != nil {
		want(t, "a canceled call", err, context.Canceled)
	}
	return err == nil
}

// whole waits until all of what a call writes is there or nothing of it: a call that was given
// up may still be on its way, and ends before a later one is done, or soon after.
func whole(t testing.TB, b driver.Backend, answered bool, there func() (found, of int)) bool {
	t.Helper()
	found, of := 0, 0
	for range 100 {
		if found, of = there(); found == of || found == 0 && !answered {
			return found == of
		}
		if answered {
			break
		}
		put(t, b, driver.Doc{Kind: "time passes", ID: token("").Grant + fmt.Sprint(token("").Key)})
	}
	t.Fatalf("a canceled call that was answered nil (%v) has done %d parts of its %d", answered, found, of)
	return false
}

func cutPut(t testing.TB, b driver.Backend) {
	for round := range rounds {
		entry := fmt.Sprint("round ", round)
		old, dead, fresh := doc("old "+entry), doc("dead "+entry), doc("fresh "+entry, entry)
		old.Version = put(t, b, old, dead)
		dead.Version = old.Version
		newer := old
		newer.Data, newer.Index = []byte("newer"), []string{entry}
		answered := cut(t, round, func(ctx context.Context) error {
			_, err := b.Put(ctx, fresh, newer, removal(dead))
			return err
		})
		whole(t, b, answered, func() (found, of int) {
			if string(get(t, b, old.ID).Data) == "newer" {
				found++
			}
			for _, id := range []string{fresh.ID, dead.ID} {
				if _, err := b.Get(t.Context(), "thing", id); (err == nil) == (id == fresh.ID) {
					found++
				}
			}
			page, _, err := b.List(t.Context(), "thing", driver.Is(entry), 9)
			want(t, "List(entry)", err, nil)
			return found + len(page), 5
		})
	}
}

func stored(t testing.TB, b driver.Backend, tokens ...driver.Token) (n int) {
	t.Helper()
	for _, x := range tokens {
		_, err := b.Token(t.Context(), x.Key)
		if err == nil {
			n++
		} else {
			want(t, "Token(key)", err, driver.ErrNotFound)
		}
	}
	return n
}

func cutTokens(t testing.TB, b driver.Backend) {
	for round := range rounds {
		tokens, nexts := family(3, "a"), family(3, "a")
		answered := cut(t, round, func(ctx context.Context) error { return b.Issue(ctx, tokens...) })
		if !whole(t, b, answered, func() (found, of int) { return stored(t, b, tokens...), 3 }) {
			tokens = family(1, "a")
			issue(t, b, tokens...)
		}
		answered = cut(t, round, func(ctx context.Context) error { return b.Exchange(ctx, tokens[0].Key, at(1), nexts...) })
		done := whole(t, b, answered, func() (found, of int) {
			if found = stored(t, b, nexts...); !read(t, b, tokens[0].Key).SpentAt.IsZero() {
				found++
			}
			return found, 4
		})
		var verdict error
		if done {
			verdict = driver.ErrSpent
		}
		again := b.Exchange(t.Context(), tokens[0].Key, at(2), token("a"))
		if !done && again != nil {
			verdict = driver.ErrSpent // it was on its way still
			whole(t, b, true, func() (found, of int) { return stored(t, b, nexts...), 3 })
		}
		want(t, "Exchange(token) behind a canceled one", again, verdict)
	}
}

func cutCount(t testing.TB, b driver.Backend) {
	hour := driver.Hour(at(0))
	for round := range rounds {
		batch := driver.Batch{Node: "node", Seq: uint64(round + 1)}
		counts := []driver.Count{calls("ai", at(0), 10), calls("mcp", at(0), 20), calls("ai", at(60), 30)}
		cut(t, round, func(ctx context.Context) error { return b.Count(ctx, batch, counts) })
		want(t, "Count(batch) again", b.Count(t.Context(), batch, counts), nil)
		n := int64(round + 1)
		usage(t, b, hours("app"), calls("ai", hour, 10*n), calls("mcp", hour, 20*n), calls("ai", hour.Add(3600e9), 30*n))
		usage(t, b, days("app"), calls("ai", driver.Day(hour), 40*n), calls("mcp", driver.Day(hour), 20*n))
	}
}

func cutFeeds(t testing.TB, b driver.Backend) {
	for round := range rounds {
		var rs []driver.Revocation
		var lines []driver.Record
		for i := range 5 {
			rs = append(rs, grantEnd(fmt.Sprint(round, " ", i)))
			lines = append(lines, driver.Record{Data: fmt.Append(nil, round, " ", i)})
		}
		mine := fmt.Sprint(round, " ")
		answered := cut(t, round, func(ctx context.Context) error { return b.Revoke(ctx, rs...) })
		whole(t, b, answered, func() (found, of int) {
			for _, r := range feed(t, b, 0) {
				if strings.HasPrefix(r.ID, mine) {
					found++
				}
			}
			return found, 5
		})
		answered = cut(t, round, func(ctx context.Context) error { return b.Append(ctx, lines...) })
		whole(t, b, answered, func() (found, of int) {
			for _, r := range trail(t, b, 0, driver.Page) {
				if strings.HasPrefix(string(r.Data), mine) {
					found++
				}
			}
			return found, 5
		})
	}
	record(t, b, "last")
	all := trail(t, b, 0, driver.Page)
	if appended(t, b, all[len(all)-1].Seq) {
		for i, r := range all {
			if r.Seq != all[0].Seq+uint64(i) {
				t.Fatalf("Records(0)[%d] has Seq %d behind %d: whose Seqs have gaps answers 0 to Appended()", i, r.Seq, all[0].Seq)
			}
		}
	}
}
