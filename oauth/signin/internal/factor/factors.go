package factor

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Paths.
const (
	Path = web.FormPath + "/factor" // the page that asks for a second factor
)

// Factors asks for second factors. It is the Second of the flow.Steps.
type Factors struct {
	*flow.Base
	Store  store
	Users  userStore
	Policy authn.Policy
	Secure bool // the cookies are for https alone

	// Tools reports whether an application asks a user (a sub), with an authorize request, for tools that they have not
	// allowed it. To allow them takes the second factor, so it is asked for at once.
	Tools func(ctx context.Context, app storage.App, sub, query string) (bool, error)

	marks atomic.Pointer[storage.Secret] // the key of the marks of trusted browsers; nil: not read yet
}

// store keeps factors and begun sign-ins; *storage.Store implements it.
type store interface {
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

func (s *Factors) Routes() []reply.Route {
	return []reply.Route{{Path: Path, Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handle: s.serve,
		Fail: web.Fail}}
}

func (s *Factors) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.submit(w, r)
	}
	p, err := s.Pending(r)
	switch {
	case errors.Is(err, ErrEnded):
		return s.ShowEnded(w, r)
	case err != nil:
		return err
	}
	return s.Show(w, r, p, http.StatusOK, "")
}

// Change changes the factors of a user (a sub) in one step, and again if another request has changed them
// meanwhile. An error of change is returned, and nothing written.
func (s *Factors) Change(ctx context.Context, sub string,
	change func(f *storage.Factors) error) (storage.Factors, error) {
	return storage.RetryOnConflict(ctx, func() (storage.Factors, error) {
		f, err := s.Store.Factors(ctx, sub)
		if err == nil {
			err = change(&f)
		}
		if err != nil {
			return f, err
		}
		return s.Store.SaveFactors(ctx, f)
	})
}
