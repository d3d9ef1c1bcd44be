package calls

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

// spy is a Backend that notes its calls while a test counts them.
type spy struct {
	driver.Backend
	mu       sync.Mutex
	counting bool
	steps    []string
}

// beside are calls of goroutines that go on beside requests: the runner of deliveries is woken by a write, and the
// reader of the audit trail by a record.
var beside = []string{"List delivery", "List trail", "Records"}

// count returns the calls that f makes, in order.
func (s *spy) count(f func()) []string {
	s.mu.Lock()
	s.counting, s.steps = true, nil
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counting = false
	return slices.DeleteFunc(s.steps, func(step string) bool { return slices.Contains(beside, step) })
}

func (s *spy) note(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counting {
		s.steps = append(s.steps, step)
	}
}

func (s *spy) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	s.note("Get " + kind)
	return s.Backend.Get(ctx, kind, id)
}

func (s *spy) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	s.note("List " + kind)
	return s.Backend.List(ctx, kind, span, n)
}

func (s *spy) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	kinds := map[string]bool{}
	for _, d := range docs {
		kinds[d.Kind] = true
	}
	s.note("Put " + strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	return s.Backend.Put(ctx, docs...)
}

func (s *spy) Append(ctx context.Context, records ...driver.Record) error {
	s.note("Append")
	return s.Backend.Append(ctx, records...)
}

func (s *spy) Issue(ctx context.Context, tokens ...driver.Token) error {
	s.note("Issue")
	return s.Backend.Issue(ctx, tokens...)
}

func (s *spy) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	s.note("Token")
	return s.Backend.Token(ctx, key)
}

func (s *spy) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	s.note("Revoke")
	return s.Backend.Revoke(ctx, rs...)
}

func (s *spy) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	s.note("Usage")
	return s.Backend.Usage(ctx, q)
}
