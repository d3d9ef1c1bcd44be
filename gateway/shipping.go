package gateway

import (
	"context"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/storage/driver"
)

// counted is a Store that marks whose usage it counts.
type counted struct {
	Store
	marker *shipper.Marker
}

func (c counted) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return c.marker.Count(ctx, b, counts)
}

// counts returns where calls are counted, and makes what ships usage.
func (g *Gateway) counts() ledger.Store {
	if g.c.UsageStream.Target == nil {
		return g.c.Store
	}
	g.stream = shipper.FollowUsage(g.c.Store, g.c.UsageStream, g.c.Log)
	return counted{g.c.Store, &shipper.Marker{Counts: g.c.Store}}
}

// Shipping says how the stream of usage is doing; false: there is none.
func (g *Gateway) Shipping() (s stream.Stats, on bool) {
	if g.stream == nil {
		return s, false
	}
	return g.stream.Stats(), true
}
