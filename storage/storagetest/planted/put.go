package planted

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// putting puts a wrong Put in, with the right one at hand.
func putting(wrong func(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error),
	docs []driver.Doc) (int64, error)) func(*parts) {
	return func(b *parts) {
		put := b.put
		b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
			return wrong(ctx, b, func(docs ...driver.Doc) (int64, error) { return put(ctx, docs...) }, docs)
		}
	}
}

// forcing writes the first document over whatever is in its way, if it may.
func forcing(may func(verdict error, d, stored driver.Doc) bool) func(*parts) {
	return putting(func(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		version, err := right(docs...)
		if err == nil || len(docs) == 0 {
			return version, err
		}
		stored, _ := b.get(ctx, docs[0].Kind, docs[0].ID)
		if !may(err, docs[0], stored) {
			return version, err
		}
		docs[0].Version = stored.Version
		return right(docs...)
	})
}

func putBugs() []bug {
	return []bug{
		{name: "Put creates over what is there", caught: "Put refuses/creating what is there",
			plant: forcing(func(verdict error, _, _ driver.Doc) bool { return errors.Is(verdict, driver.ErrExists) })},
		{name: "Put replaces any version", caught: "Put refuses/replacing a version that is no more",
			plant: forcing(func(_ error, d, stored driver.Doc) bool { return !d.Deleted && stored.Version != 0 })},
		{name: "Put replaces older versions", caught: "Put refuses/replacing a version that has not been yet",
			plant: forcing(func(_ error, d, stored driver.Doc) bool { return d.Version > stored.Version })},
		{name: "Put removes any version", caught: "Put refuses/removing a version that is no more",
			plant: forcing(func(_ error, d, stored driver.Doc) bool { return d.Deleted && stored.Version != 0 })},
		{name: "Put makes again what is gone", caught: "Put refuses/replacing or removing what is gone",
			plant: forcing(func(_ error, d, stored driver.Doc) bool { return !d.Deleted && stored.Version == 0 })},
		{name: "Put finds nothing wrong with removing what is gone", caught: "Put refuses/replacing or removing what is gone",
			plant: putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
				docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				if err != nil && docs[0].Deleted {
					return 0, nil
				}
				return version, err
			})},
		{name: "Put writes those before the one in the way", caught: "Put refuses/one document in the way",
			plant: putting(writesPrefix)},
		{name: "PutError names the first document", caught: "Put refuses/one document in the way",
			plant: putErrors(func(in *driver.PutError, docs []driver.Doc) error {
				return &driver.PutError{Kind: docs[0].Kind, ID: docs[0].ID, Err: in.Err}
			})},
		{name: "Put refuses without a PutError", caught: "Put refuses/creating what is there",
			plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error { return in.Err })},
		{name: "Put does not check", caught: "Put refuses/a document twice in one Put",
			plant: putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
				docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				if errors.Is(err, driver.ErrInvalid) {
					return right(docs[0])
				}
				return version, err
			})},
	}
}

func docBugs() []bug {
	return []bug{
		{name: "Put takes no more than 1 MiB", caught: "Put and Get/a document may be as large",
			plant: putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
				docs []driver.Doc) (int64, error) {
				if len(docs) > 0 && len(docs[0].Data) > 1<<20 {
					return 0, errors.New("too large")
				}
				return right(docs...)
			})},
		{name: "Put creates without looking again", caught: "Put and Get/of 32 creations of one id one wins",
			plant: putting(looksOnce)},
		{name: "a replaced document keeps its old end", caught: "Put and Get/a replaced document is the new one",
			plant: putting(keepsEnd)},
		{name: "ids are compared without the space behind them", caught: "Put and Get/no document has a name",
			plant: func(b *parts) {
				get := b.get
				b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
					return get(ctx, kind, strings.TrimSpace(id))
				}
			}},
		{name: "a document's end is kept by the second", caught: "Put and Get/every field of a document",
			plant: docOut(func(d *driver.Doc) { d.ExpiresAt = d.ExpiresAt.Truncate(1e9) })},
		{name: "a document's entries are sorted", caught: "Put and Get/every field of a document",
			plant: docOut(func(d *driver.Doc) {
				slices.Sort(d.Index)
			})},
	}
}

func writesPrefix(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
	docs []driver.Doc) (int64, error) {
	version, err := right(docs...)
	if in := (*driver.PutError)(nil); errors.As(err, &in) {
		right(docs[:slices.IndexFunc(docs, func(d driver.Doc) bool { return d.ID == in.ID })]...)
	}
	return version, err
}

func putErrors(change func(in *driver.PutError, docs []driver.Doc) error) func(*parts) {
	return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		version, err := right(docs...)
		if in := (*driver.PutError)(nil); errors.As(err, &in) {
			return version, change(in, docs)
		}
		return version, err
	})
}

func looksOnce(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error),
	docs []driver.Doc) (int64, error) {
	for _, d := range docs {
		if _, err := b.get(ctx, d.Kind, d.ID); err == nil && d.Version == 0 {
			return 0, &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrExists}
		}
	}
	yield()
	version, err := right(docs...)
	if errors.Is(err, driver.ErrExists) {
		return 1, nil
	}
	return version, err
}

func keepsEnd(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error),
	docs []driver.Doc) (int64, error) {
	for i, d := range docs {
		if stored, err := b.get(ctx, d.Kind, d.ID); err == nil && d.ExpiresAt.IsZero() {
			docs[i].ExpiresAt = stored.ExpiresAt
		}
	}
	return right(docs...)
}

// docOut changes documents on their way out of Get.
func docOut(change func(*driver.Doc)) func(*parts) {
	return func(b *parts) {
		get := b.get
		b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
			d, err := get(ctx, kind, id)
			change(&d)
			return d, err
		}
	}
}
