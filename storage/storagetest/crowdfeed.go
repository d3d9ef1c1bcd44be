package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// crowdedFeeds are the promises that a database's own sequence breaks: it gives a number when a
// statement runs, and others see it when its transaction ends. A long call takes low numbers
// and shows them late; meanwhile the short calls beside it have shown higher ones, and the
// reader who is always at the end of the feed has gone on.
func crowdedFeeds() []promise {
	return []promise{
		{name: "two readers at the end of the trail miss nothing beside long and short Appends",
			test: func(t testing.TB, b driver.Backend) {
				crowdedFeed(t, func(texts []string) error {
					var records []driver.Record
					for _, text := range texts {
						records = append(records, driver.Record{At: at(0), Data: []byte(text)})
					}
					return b.Append(t.Context(), records...)
				}, func(after uint64) (seqs []uint64, texts []string) {
					page, err := b.Records(t.Context(), after, driver.Page)
					want(t, "Records(after)", err, nil)
					for _, r := range page {
						seqs, texts = append(seqs, r.Seq), append(texts, string(r.Data))
					}
					return seqs, texts
				})
			}},
		{name: "two readers at the end of the feed miss nothing beside long and short Revokes",
			test: func(t testing.TB, b driver.Backend) {
				crowdedFeed(t, func(texts []string) error {
					var rs []driver.Revocation
					for _, text := range texts {
						rs = append(rs, grantEnd(text))
					}
					return b.Revoke(t.Context(), rs...)
				}, func(after uint64) (seqs []uint64, texts []string) {
					page, err := b.Revocations(t.Context(), after, driver.Page)
					want(t, "Revocations(after)", err, nil)
					for _, r := range page {
						seqs, texts = append(seqs, r.Seq), append(texts, r.ID)
					}
					return seqs, texts
				})
			}},
	}
}

// reader is somebody who follows a feed.
type reader struct {
	after uint64
	texts []string
}

func (r *reader) follow(t testing.TB, read func(after uint64) ([]uint64, []string)) {
	for {
		seqs, texts := read(r.after)
		for _, seq := range seqs {
			if seq <= r.after {
				t.Fatalf("a page behind %d holds Seq %d, want rising", r.after, seq)
			}
			r.after = seq
		}
		r.texts = append(r.texts, texts...)
		if len(seqs) == 0 {
			return
		}
		if last := texts[len(texts)-1]; len(texts) < driver.Page && !strings.HasSuffix(last, " end") {
			t.Fatalf("a page ends with %q, amid what one call has written", last)
		}
	}
}

func crowdedFeed(t testing.TB, write func(texts []string) error, read func(after uint64) ([]uint64, []string)) {
	const long, short, size, longs, shorts = 2, 6, 250, 5, 30
	name := func(caller, i, n int) (texts []string) {
		for j := range n {
			texts = append(texts, fmt.Sprintf("%d %d %d", caller, i, j))
		}
		texts[n-1] += " end"
		return texts
	}
	var readers [2]reader
	var beside sync.WaitGroup
	over := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(over)
		beside.Wait()
	})
	defer end()
	beside.Go(func() { // a second reader, so that the two are at different places
		for {
			select {
			case <-over:
				return
			default:
				readers[1].follow(t, read)
			}
		}
	})
	answers := meanwhile(long+short, shorts, func(i, j int) error {
		if i >= long {
			return write(name(i, j, 1))
		}
		if j >= longs {
			return nil
		}
		return write(name(i, j, size))
	}, func() { readers[0].follow(t, read) })
	end()
	allNil(t, "a write of the crowd", answers)
	var all reader
	all.follow(t, read)
	if len(all.texts) != long*longs*size+short*shorts {
		t.Fatalf("the feed holds %d, want %d", len(all.texts), long*longs*size+short*shorts)
	}
	for i := range readers {
		readers[i].follow(t, read)
		if !slices.Equal(readers[i].texts, all.texts) {
			t.Fatalf("reader %d saw %d of %d: a Seq was shown before a lower one", i, len(readers[i].texts), len(all.texts))
		}
	}
}
