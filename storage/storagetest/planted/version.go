package planted

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func versionBugs() []bug {
	const made, swept = "Put refuses/a document that is removed and made again", "Sweep/a version is not given again"
	return []bug{
		{name: "versions count the writes of one document", caught: made, plant: perDocument},
		{name: "versions of two kinds are not told apart", caught: "Put and Get/versions rise through all kinds",
			plant: perDocument},
		{name: "a version is given again after a sweep", caught: swept, plant: perDocument},
		{name: "Put answers the version before", caught: "Put and Get/one Put creates, replaces and removes", plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				return version - 1, err
			})},
		{name: "two Puts at once get one version", caught: "Put and Get/32 Puts at once get 32 versions",
			plant: oneVersion()},
		{name: "a Seq is given again after a sweep", caught: "Sweep/a Seq is not given again", plant: seqsAgain},
	}
}

// perDocument counts versions from 1 for every document, and again when it was away.
func perDocument(b *parts) {
	real, shown := map[driver.Span]int64{}, map[driver.Span]int64{}
	name := func(d driver.Doc) driver.Span { return driver.Span{From: d.Kind, To: d.ID} }
	put, get, sweep := b.put, b.get, b.sweep
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		for i, d := range docs {
			if d.Version != 0 && d.Version == shown[name(d)] {
				docs[i].Version = real[name(d)]
			}
		}
		version, err := put(ctx, docs...)
		if err != nil {
			return 0, err
		}
		for _, d := range docs {
			if real[name(d)], shown[name(d)] = version, shown[name(d)]+1; d.Deleted {
				delete(shown, name(d))
			}
		}
		return max(1, shown[name(docs[0])]), nil
	}
	b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
		d, err := get(ctx, kind, id)
		d.Version = shown[name(d)]
		return d, err
	}
	b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
		removed, err := sweep(ctx, at, n)
		maps.DeleteFunc(shown, func(s driver.Span, _ int64) bool {
			_, err := get(ctx, s.From, s.To)
			return err != nil
		})
		return removed, err
	}
}

// oneVersion answers callers who come together with the same version.
func oneVersion() func(*parts) {
	var last atomic.Int64
	return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		next := last.Load() + 1
		yield()
		_, err := right(docs...)
		last.Store(next)
		return next, err
	})
}

// seqsAgain numbers on from the highest Seq there is, instead of the highest there was.
func seqsAgain(b *parts) {
	var off, highest uint64
	revoke, revocations := b.revoke, b.revocations
	b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		if there, _ := revocations(ctx, 0, 1); len(there) == 0 {
			off = highest
		}
		highest += uint64(len(rs))
		return revoke(ctx, rs...)
	}
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		feed, err := revocations(ctx, after+off, n)
		for i := range feed {
			feed[i].Seq -= off
		}
		return feed, err
	}
}
