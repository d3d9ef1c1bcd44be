package storagetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

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
				t.Fatalf("document %q is of caller %d in version %d, and Put answered nil to caller %d with %d", d.ID, d.Data[0],
					d.Version, slices.Index(answers, nil), page[0].Version)
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
				rs = append(rs, driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint(j), Before: at(round*callers + i),
					Until: at(900 + round*callers - i)})
			}
			return b.Revoke(t.Context(), backwards(i, rs)...)
		}))
		got := feed(t, b, 0)
		if len(got) != ids {
			t.Fatalf("Revocations(0) = %d revocations, want %d", len(got), ids)
		}
		for _, r := range got {
			sameRevocation(t, r, driver.Revocation{Kind: r.Kind, ID: r.ID, Before: at(round*callers + 7),
				Until: at(900 + round*callers)})
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
			if err := b.Count(t.Context(), driver.Batch{Node: fmt.Sprint("node ", i), Seq: seq + 1},
				backwards(i, adds)); err != nil {
				return err
			}
		}
		return nil
	}))
	usage(t, b, hours("app"), perHour...)
	usage(t, b, days("app"), perDay...)
}
