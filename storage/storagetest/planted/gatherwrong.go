package planted

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

func inOrderOfNames(ask driver.Ask, a *driver.Answer) {
	slices.SortStableFunc(a.Docs, func(x, y driver.Doc) int {
		return slices.Index(ask.IDs, x.ID) - slices.Index(ask.IDs, y.ID)
	})
}

func alsoLists(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(ctx, asks...)
		for i := range all {
			if len(asks[i].IDs) == 0 || asks[i].N == 0 {
				continue
			}
			more, err := gather(ctx, driver.Ask{Kind: asks[i].Kind, Span: asks[i].Span, N: asks[i].N})
			if err != nil {
				return nil, err
			}
			all[i].Docs = append(all[i].Docs, more[0].Docs...)
		}
		return all, err
	}
}

func failsForMissing(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(ctx, asks...)
		for i := range all {
			if len(asks[i].IDs) > 0 && len(all[i].Docs) == 0 {
				return nil, driver.ErrNotFound
			}
		}
		return all, err
	}
}

func leavesOutEmpty(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(ctx, asks...)
		return slices.DeleteFunc(all, func(a driver.Answer) bool { return len(a.Docs) == 0 }), err
	}
}

func eachOfFirstKind(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		asks = slices.Clone(asks)
		for i := range asks {
			asks[i].Kind = asks[0].Kind
		}
		return gather(ctx, asks...)
	}
}

func eachOnce(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(ctx, asks...)
		seen := map[string]bool{}
		for i := range all {
			text := fmt.Sprintf("%#v", asks[i])
			if seen[text] {
				all[i] = driver.Answer{}
			}
			seen[text] = true
		}
		return all, err
	}
}

func oneByOne(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error) {
		for _, ask := range asks {
			one, err := gather(ctx, ask)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
			yield()
		}
		return all, nil
	}
}

// looksUpLater takes from a list only which documents are on it.
func looksUpLater(p *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(ctx, asks...)
		for i, a := range all {
			for j, d := range a.Docs {
				if len(asks[i].IDs) > 0 {
					continue
				}
				yield()
				if all[i].Docs[j], err = p.get(ctx, d.Kind, d.ID); err != nil {
					return nil, err
				}
			}
		}
		return all, err
	}
}

func takesBrokenOff(_ *parts, gather gatherFunc) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all, err := gather(context.WithoutCancel(ctx), asks...)
		yield()
		if ctx.Err() != nil {
			for i, a := range all {
				all[i].Docs = a.Docs[:len(a.Docs)/2]
			}
		}
		return all, err
	}
}

func remembersRead(_ *parts, gather gatherFunc) gatherFunc {
	var read sync.Map
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		text := fmt.Sprintf("%#v", asks)
		if all, there := read.Load(text); there {
			return all.([]driver.Answer), nil
		}
		all, err := gather(ctx, asks...)
		if err == nil {
			read.Store(text, all)
		}
		return all, err
	}
}
