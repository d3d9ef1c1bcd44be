package calls

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// spy is a Backend that notes the calls of requests while a test counts them. Calls of background work have no
// context of a request.
type spy struct {
	driver.Backend
	mu       sync.Mutex
	counting bool
	steps    []string
}

// ofRequest keys a value that contexts of requests have.
type ofRequest struct{}

// count returns the calls that f makes, in order.
func (s *spy) count(f func()) []string {
	s.mu.Lock()
	s.counting, s.steps = true, nil
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counting = false
	return s.steps
}

// note notes a call and what it is about.
func (s *spy) note(ctx context.Context, call string, about ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counting && ctx.Value(ofRequest{}) != nil {
		s.steps = append(s.steps, strings.Join(append([]string{call}, about...), " "))
	}
}

func (s *spy) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	s.note(ctx, "Get", kind, id)
	return s.Backend.Get(ctx, kind, id)
}

func (s *spy) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	s.note(ctx, "List", kind, span.From)
	return s.Backend.List(ctx, kind, span, n)
}

func (s *spy) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	kinds := map[string]bool{}
	for _, d := range docs {
		kinds[d.Kind] = true
	}
	s.note(ctx, "Put", slices.Sorted(maps.Keys(kinds))...)
	return s.Backend.Put(ctx, docs...)
}

func (s *spy) Append(ctx context.Context, records ...driver.Record) error {
	s.note(ctx, "Append")
	return s.Backend.Append(ctx, records...)
}

func (s *spy) Issue(ctx context.Context, tokens ...driver.Token) error {
	s.note(ctx, "Issue")
	return s.Backend.Issue(ctx, tokens...)
}

func (s *spy) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	s.note(ctx, "Token")
	return s.Backend.Token(ctx, key)
}

func (s *spy) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	s.note(ctx, "Revoke")
	return s.Backend.Revoke(ctx, rs...)
}

func (s *spy) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	s.note(ctx, "Usage")
	return s.Backend.Usage(ctx, q)
}

func (s *spy) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	s.note(ctx, "Exchange")
	return s.Backend.Exchange(ctx, key, at, next...)
}

func (s *spy) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	s.note(ctx, "Records")
	return s.Backend.Records(ctx, after, n)
}
