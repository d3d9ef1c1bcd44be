package gateway

import (
	"context"
	"errors"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/storage/driver"
)

// shippable is a Store whose usage can be shipped; *storage.Store is one.
type shippable interface {
	stream.UsageStore
	stream.Counts
}

// counted is a Store that marks whose usage it counts.
type counted struct {
	Store
	marker *stream.Marker
}

func (c counted) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return c.marker.Count(ctx, b, counts)
}

// checkShipping returns what is wrong with the stream of usage.
func (c *Config) checkShipping() error {
	if err := c.UsageStream.Check(); err != nil {
		return err
	}
	if _, ok := c.Store.(shippable); c.UsageStream.On() && !ok {
		return errors.New("UsageStream: the Store cannot say whose usage it has; *storage.Store can")
	}
	return nil
}

// counts returns where calls are counted, and makes what ships usage.
func (g *Gateway) counts() ledger.Store {
	store, ok := g.c.Store.(shippable)
	if !g.c.UsageStream.On() || !ok {
		return g.c.Store
	}
	g.stream = stream.FollowUsage(store, g.c.UsageStream, g.c.Log)
	return counted{g.c.Store, &stream.Marker{Counts: store}}
}

// Shipping says how the stream of usage is doing; false: there is none.
func (g *Gateway) Shipping() (s stream.Stats, on bool) {
	if g.stream == nil {
		return s, false
	}
	return g.stream.Stats(), true
}
