package demo // import "github.com/keystile/keystile/cmd/keystile/demo"

import "context"
import "github.com/keystile/keystile/storage"
import "log/slog"
import "net/http"

type Config struct {
	BaseURL  string
	Store    Store
	Provider http.Handler
	Log      *slog.Logger
}

type Demo struct{ _ []struct{} }

func (*Demo) Patterns() []string
func (*Demo) ServeHTTP(w http.ResponseWriter, r *http.Request)

func Domains(base string) []string

func Draft(base string, draft storage.App) storage.App

func New(c Config) *Demo

const Path = "/demo"

func RedirectURI(base string) string

func Register(ctx context.Context, store Registry, base string, draft storage.App) (storage.App, error)

type Registry interface {
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	SaveAppAs(ctx context.Context, setting string, a storage.App) (storage.App, error)
	Set(ctx context.Context, name string, value string) error
	Store
}

const SettingClient = "demo.client_id"

type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Setting(ctx context.Context, name string) (string, error)
}

func Suspend(ctx context.Context, store Registry, revoke func(clientID string) error) error
