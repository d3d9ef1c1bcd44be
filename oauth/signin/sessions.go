package signin

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage"
)

// sessions keeps who is signed in behind the session cookie.
type sessions struct {
	store  sessionStore
	users  people
	peer   func(*http.Request) netip.Addr
	log    *slog.Logger
	secure bool
	idle   time.Duration
	max    time.Duration
	marks  atomic.Pointer[storage.Secret] // the key of what known browsers have; nil: not read yet
}

// sessionStore keeps sessions; *storage.Store has it.
type sessionStore interface {
	Session(ctx context.Context, id string) (storage.Session, error)
	SaveSession(ctx context.Context, v storage.Session) (storage.Session, error)
	EndSession(ctx context.Context, v storage.Session) error
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// people knows users by their sub.
type people interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
