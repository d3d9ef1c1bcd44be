package console_test

import (
	"context"
	"errors"

	"github.com/keystile/keystile/storage/driver"
)

// gather answers questions of a Backend, which a wrapper counts as one call.
func gather(ctx context.Context, b driver.Backend, asks []driver.Ask) ([]driver.Answer, error) {
	all := make([]driver.Answer, len(asks))
	for i, ask := range asks {
		for _, id := range ask.IDs {
			d, err := b.Get(ctx, ask.Kind, id)
			if err == nil {
				all[i].Docs = append(all[i].Docs, d)
			} else if !errors.Is(err, driver.ErrNotFound) {
				return nil, err
			}
		}
		if len(ask.IDs) == 0 && ask.N > 0 {
			docs, next, err := b.List(ctx, ask.Kind, ask.Span, ask.N)
			if err != nil {
				return nil, err
			}
			all[i] = driver.Answer{Docs: docs, Next: next}
		}
	}
	return all, nil
}

func (b *written) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	b.read()
	return gather(ctx, b.Backend, asks)
}

func (b *reads) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	b.n.Add(1)
	return gather(ctx, b.Backend, asks)
}

func (c *counted) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	c.reads.Add(1)
	return gather(ctx, c.Backend, asks)
}

func (c *countedFinds) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	c.calls.Add(1)
	return gather(ctx, c.Backend, asks)
}
