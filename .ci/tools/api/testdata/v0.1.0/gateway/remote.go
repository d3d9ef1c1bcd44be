package remote // import "github.com/keystile/keystile/gateway/remote"

import "context"
import "github.com/keystile/keystile/storage"
import "log/slog"
import "net/http"
import "time"

func CallerFrom(ctx context.Context) (storage.Caller, bool)

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

type Verifier struct{ _ []struct{} }

func (*Verifier) Mount(mux interface{ Handle(string, http.Handler) }, resource string, h http.Handler, scopes ...string) error
func (*Verifier) Ready(ctx context.Context) error
func (*Verifier) Require(scopes ...string) func(http.Handler) http.Handler
func (*Verifier) Verify(ctx context.Context, bearer string) (storage.Caller, error)
