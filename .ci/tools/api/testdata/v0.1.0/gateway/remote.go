package remote // import "github.com/keystile/keystile/gateway/remote"

import "context"
import "github.com/keystile/keystile/storage"
import "log/slog"
import "net/http"
import "time"

func CallerFrom(ctx context.Context) (storage.Caller, bool)

type Callers struct{ _ []struct{} }

func (*Callers) Require(next http.Handler) http.Handler
func (*Callers) Verify(ctx context.Context, sent string) (Told, error)

type Config struct {
	BaseURL   string
	Audiences []string
	Tokens    interface {
		Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
	}
	RefreshEvery   time.Duration
	StaleAfter     time.Duration
	Pause          time.Duration
	Timeout        time.Duration
	CheckEvery     time.Duration
	Proofs         Proofs
	AllowPlainHTTP bool
	Client         *http.Client
	CacheSize      int
	Log            *slog.Logger
}

type Error struct {
	Status     int
	RetryAfter time.Duration
	Err        error
}

func (*Error) Error() string
func (*Error) Unwrap() error

func New(_ context.Context, c Config) (*Verifier, error)

type Proofs struct {
	Origin string
	Key    []byte
	Once   func(ctx context.Context, id []byte, until time.Time) (bool, error)
}

type Told struct {
	storage.Caller
	Tool      string
	RequestID string
}

func ToldFrom(ctx context.Context) (Told, bool)

type Verifier struct{ _ []struct{} }

func (*Verifier) Callers(origin string, of ...string) (*Callers, error)
func (*Verifier) Mount(mux interface{ Handle(string, http.Handler) }, resource string, h http.Handler, scopes ...string) error
func (*Verifier) Ready(ctx context.Context) error
func (*Verifier) Require(scopes ...string) func(http.Handler) http.Handler
func (*Verifier) Verify(ctx context.Context, bearer string) (storage.Caller, error)
