package consolebench

import (
	"context"
	"fmt"
	"sync"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// adapter is a Backend that can be filled in bulk.
type adapter interface {
	driver.Backend
	transfer.Adapter
}

// hoard is a Backend for one writer that makes users, applications and first memberships alone. It keeps the counters
// in memory and loads the others in large steps; end writes the rest. Nobody else may use the store meanwhile.
type hoard struct {
	adapter
	counters map[string]driver.Doc
	version  int64
	rows     []transfer.Row
	pages    chan []transfer.Row
	loaders  sync.WaitGroup
	failed   error
	once     sync.Once
}

func newHoard(ctx context.Context, a adapter, loaders int) (*hoard, error) {
	h := &hoard{adapter: a, counters: map[string]driver.Doc{}, pages: make(chan []transfer.Row, loaders)}
	rows, err := a.Rows(ctx, transfer.Counters, nil, 10)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if name, last, err := r.Counter(); err != nil {
			return nil, err
		} else if name == transfer.LastVersion {
			h.version = int64(last)
		}
	}
	for range loaders {
		h.loaders.Go(func() {
			for page := range h.pages {
				if err := a.Load(ctx, transfer.Documents, page, nil); err != nil {
					h.once.Do(func() { h.failed = err })
				}
			}
		})
	}
	return h, nil
}

func (h *hoard) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	if d, ok := h.counters[id]; ok && kind == "counter" {
		return d, nil
	}
	return h.adapter.Get(ctx, kind, id)
}

func (h *hoard) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	for _, d := range docs {
		if d.Kind != "user" && d.Kind != "app" && d.Kind != "member" && d.Kind != "counter" {
			version, err := h.adapter.Put(ctx, docs...)
			h.version = max(h.version, version)
			return version, err
		}
	}
	h.version++
	for _, d := range docs {
		if d.Version != 0 && d.Kind != "counter" {
			return 0, fmt.Errorf("%s %s is not new", d.Kind, d.ID)
		}
		if d.Version = h.version; d.Kind == "counter" {
			h.counters[d.ID] = d
			continue
		}
		h.rows = append(h.rows, transfer.DocRow(d))
	}
	if len(h.rows) >= transfer.PageRows-len(docs) {
		h.pages <- h.rows
		h.rows = nil
	}
	return h.version, nil
}

// end writes what is left, and the counters.
func (h *hoard) end(ctx context.Context) error {
	for _, d := range h.counters {
		h.rows = append(h.rows, transfer.DocRow(d))
	}
	if len(h.rows) > 0 {
		h.pages <- h.rows
	}
	close(h.pages)
	h.loaders.Wait()
	if h.failed != nil {
		return h.failed
	}
	return h.adapter.Load(ctx, transfer.Counters,
		[]transfer.Row{transfer.CounterRow(transfer.LastVersion, uint64(h.version))}, nil)
}
