package document // import "github.com/keystile/keystile/storage/internal/document"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/secret"
import "github.com/keystile/keystile/storage/state"
import "time"

type AnyKind interface {
	kindName() string
	seals() bool
}

type Kind[T any] struct {
	Name    string
	ID      func(T) string
	Index   func(T) []string
	Expires func(T) time.Time
	Version func(*T) *int64
	Secrets func(*T) map[string]*secret.Secret
	Clone   func(T) T
}

func (Kind[T]) Doc(s *Store, v T) (driver.Doc, error)
func (Kind[T]) Record(s *Store, d driver.Doc) (v T, err error)

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
