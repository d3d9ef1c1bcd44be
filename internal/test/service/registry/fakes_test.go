package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// faulty is a backend that can be made to fail.
type faulty struct {
	driver.Backend
	mu   sync.Mutex
	puts func(docs []driver.Doc) error // what happens before a Put; nil: nothing
	gets func(kind string) error
}

// Unwrap makes it a driver.Shared if the Backend is one.
func (f *faulty) Unwrap() driver.Backend { return f.Backend }

func (f *faulty) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	f.mu.Lock()
	before := f.puts
	f.mu.Unlock()
	if before != nil {
		if err := before(docs); err != nil {
			return 0, err
		}
	}
	return f.Backend.Put(ctx, docs...)
}

func (f *faulty) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	f.mu.Lock()
	before := f.gets
	f.mu.Unlock()
	if before != nil {
		if err := before(kind); err != nil {
			return driver.Doc{}, err
		}
	}
	return f.Backend.Get(ctx, kind, id)
}

func (f *faulty) before(puts func([]driver.Doc) error, gets func(string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.puts, f.gets = puts, gets
}

// upstreams is a Discoverer that knows a few endpoints.
type upstreams struct{}

func (upstreams) Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
	switch {
	case strings.Contains(c.UpstreamURL, "silent"):
		<-ctx.Done()
		return toolplan.Discovery{}, fmt.Errorf("get %s: %w", c.UpstreamURL, ctx.Err())
	case strings.Contains(c.UpstreamURL, "broken"):
		panic("a tool list that nobody expected")
	case strings.Contains(c.UpstreamURL, "empty"):
		return toolplan.Discovery{}, nil
	case strings.Contains(c.UpstreamURL, "unusable"):
		return toolplan.Discovery{Skipped: []toolplan.Skip{{Pointer: "/tools/0", Reason: "it has no name"}}}, nil
	}
	return toolplan.Discovery{Tools: []toolplan.Tool{
		{Name: "search", Description: "Search", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}, Skipped: []toolplan.Skip{{Pointer: "/tools/1", Reason: "no name"}}}, nil
}

// urlError fails as net/http does.
func urlError(at string) error {
	return &url.Error{Op: "Post", URL: at, Err: errors.New("connection refused")}
}
