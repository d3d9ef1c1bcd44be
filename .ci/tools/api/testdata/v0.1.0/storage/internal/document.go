package document // import "github.com/keystile/keystile/storage/internal/document"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/forward"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/state"
import "time"

type AnyKind interface {
	kindName() string
	seals() bool
}

type Fence struct {
	Owner     string    "json:\"owner\""
	ExpiresAt time.Time "json:\"expires_at,omitzero\""
	Version   int64     "json:\"-\""
	carried
}

func (Fence) Of(owner string) (Fence, error)

type Kind[T any] struct {
	Name    string
	ID      func(T) string
	Index   func(T) []string
	Expires func(T) time.Time
	Version func(*T) *int64
	Secrets func(*T) map[string]*secret.Secret
	Clone   func(T) T
}

func (Kind[T]) All(ctx context.Context, s *Store, span driver.Span) ([]T, error)
func (Kind[T]) Doc(s *Store, v T) (driver.Doc, error)
func (Kind[T]) Docs(s *Store, all ...T) ([]driver.Doc, error)
func (Kind[T]) Due(ctx context.Context, s *Store, at time.Time, n int) ([]T, error)
func (Kind[T]) DueOn(ctx context.Context, s *Store, list string, at time.Time, n int) ([]T, error)
func (Kind[T]) Get(ctx context.Context, s *Store, id string) (v T, err error)
func (Kind[T]) List(ctx context.Context, s *Store, span driver.Span, n int) ([]T, string, error)
func (Kind[T]) Page(ctx context.Context, s *Store, entry string, from string, n int) ([]T, string, error)
func (Kind[T]) Put(ctx context.Context, s *Store, v T) (T, error)
func (Kind[T]) PutNew(ctx context.Context, s *Store, sub string, v T) (T, error)
func (Kind[T]) Record(s *Store, d driver.Doc) (v T, err error)
func (Kind[T]) Remove(ctx context.Context, s *Store, v T) error
func (Kind[T]) Rest(ctx context.Context, s *Store, span driver.Span, first []T, next string) ([]T, error)

type Store struct{ _ []struct{} }

func (*Store) BeginRekey(ctx context.Context, keys ...secret.MasterKey) error
func (*Store) CheckRows(ctx context.Context) (rows int, unsummed int, damaged []error, err error)
func (*Store) Counts(ctx context.Context) (c state.Counts, err error)
func (*Store) Describe() (kind string, version string, at string, bytes int64)
func (*Store) EndRekey(ctx context.Context) error
func (*Store) Features(ctx context.Context) ([]state.Feature, error)
func (*Store) Listen(ctx context.Context, hint func()) error
func (*Store) OnChange(f func(state.Change)) (stop func())
func (*Store) ReadChanges(ctx context.Context) error
func (*Store) Rekeying(ctx context.Context) (bool, error)
func (*Store) Reseal(ctx context.Context) (total int, err error)
func (*Store) SealedWith(ctx context.Context) (string, error)
func (*Store) Shared() bool

type Tally struct {
	Apps  int64
	Open  int64
	Users int64
}

type carried = forward.Fields
