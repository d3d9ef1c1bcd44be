package factor

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Fresh implements flow.Second.
func (s *Factors) Fresh(ctx context.Context, v storage.Session) (fresh bool, f storage.Factors, err error) {
	f, err = s.Store.Factors(ctx, v.UserID)
	return err == nil && Fresh(v, f), f, err
}

// Fresh reports whether a session has proved within ten minutes what its user has, which is f.
func Fresh(v storage.Session, f storage.Factors) bool {
	return stepup.Fresh(v.FreshFrom(), stepup.Proved(v, f), time.Now())
}

// Proved implements stepup.Prover.
func (s *Factors) Proved(ctx context.Context, v storage.Session) (bool, error) {
	return stepup.By(s.Store).Proved(ctx, v)
}

// Confirm implements flow.Second.
func (s *Factors) Confirm(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User,
	query, why string) error {
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	if by := session.ProofOf(v); !stepup.Proved(v, f) && by.RecentAt(time.Now()) {
		return s.hold(w, r, Pending{User: u, By: by, Raise: true, Factors: f, Why: why}, query)
	}
	t, err := s.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{
		Title: "Confirm that it is you", Username: u.Username, Lead: t.Lang.T(why), Confirm: true, AtOnce: s.Pages.Passkeys &&
			len(f.Passkeys) > 0,
	})
}

// Prove asks a signed-in user who has a second factor for it, if their session has not proved it, and leads to the
// query then. Otherwise asked is false, and nothing is written.
func (s *Factors) Prove(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User,
	query string) (asked bool, err error) {
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil || stepup.Proved(v, f) {
		return false, err
	}
	why := "A trusted browser is spared your second factor only where you sign in to an application. This page takes it."
	return true, s.hold(w, r, Pending{User: u, By: session.ProofOf(v), Raise: true, Factors: f, Why: why}, query)
}
