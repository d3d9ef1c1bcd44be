package storagetest

import (
	"context"
	"errors"
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

// rounds is how often a call is cut, each time later than the time before.
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

// cutReads catches who takes the end of a broken answer for the end of the rows.
func cutReads(t testing.TB, b driver.Backend) {
	const n = 200
	x := token("a")
	issue(t, b, x)
	var docs []driver.Doc
	var rs []driver.Revocation
	var counts []driver.Count
	for i := range n {
		if docs = append(docs, doc(fmt.Sprintf("%03d", i), "all")); len(docs) == driver.MaxPut {
			put(t, b, docs...)
			docs = nil
		}
		rs, counts = append(rs, grantEnd(fmt.Sprint(i))), append(counts, calls(fmt.Sprint(i), at(0), 10))
		record(t, b, "a", "b")
	}
	revoke(t, b, rs...)
	count(t, b, "node", 1, counts...)
	of := func(call string, err error, found, all int) error {
		if err == nil && found != all {
			t.Errorf("%s, canceled, answers nil and %d of %d", call, found, all)
		}
		return err
	}
	for round := range rounds {
		for _, call := range []func(ctx context.Context) error{
			func(ctx context.Context) error {
				got, err := b.Token(ctx, x.Key)
				return of("Token", err, len(got.Grant), len(x.Grant))
			},
			func(ctx context.Context) error {
				d, err := b.Get(ctx, "thing", "007")
				return of("Get", err, len(d.Data), len("data of 007"))
			},
			func(ctx context.Context) error {
				page, _, err := b.List(ctx, "thing", driver.Is("all"), driver.Page)
				return of("List", err, len(page), n)
			},
			func(ctx context.Context) error {
				page, err := b.Records(ctx, 0, driver.Page)
				return of("Records", err, len(page), 2*n)
			},
			func(ctx context.Context) error {
				page, err := b.Revocations(ctx, 0, driver.Page)
				return of("Revocations", err, len(page), n)
			},
			func(ctx context.Context) error {
				rows, err := b.Usage(ctx, hours("app"))
				return of("Usage", err, len(rows), n)
			},
		} {
			cut(t, round, call)
		}
	}
}

func cutBeside(t testing.TB, b driver.Backend) {
	for round := range rounds / 2 {
		ctx, cancel := context.WithCancel(t.Context())
		together(17, func(i int) error {
			if i == 16 {
				cancel()
				return nil
			}
			mine, id := t.Context(), fmt.Sprint(round, " ", i)
			if i%2 == 1 {
				mine = ctx
			}
			_, err := b.Put(mine, doc(id, "all"))
			if i%2 == 0 || err != nil && !errors.Is(err, context.Canceled) {
				if err != nil {
					t.Errorf("Put(document) beside canceled ones = %v", err)
				}
			}
			return err
		})
		cancel()
		for i := 0; i < 16; i += 2 {
			get(t, b, fmt.Sprint(round, " ", i))
		}
	}
}
