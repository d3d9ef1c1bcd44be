package factor

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Due returns until when a user may sign in without the second factor that is required of them. It is the
// zero time if none is required, or they have one.
func (s *Factors) Due(u storage.User, f storage.Factors) time.Time {
	if f.Any() || s.Policy.Of(u.Role) != authn.MFARequired {
		return time.Time{}
	}
	since := f.DueSince
	if since.IsZero() {
		since = time.Now().UTC()
	}
	return s.Policy.DueAt(since)
}

// settle notes since when a factor is required of a user who has none: from the first sign-in on at which it was.
// A policy that asks for none any longer ends that, so that a later one begins anew.
func (s *Factors) settle(ctx context.Context, u storage.User, f storage.Factors) (storage.Factors, error) {
	required := s.Policy.Of(u.Role) == authn.MFARequired
	if f.Any() || required != f.DueSince.IsZero() {
		return f, nil
	}
	return s.Change(ctx, u.Sub, func(f *storage.Factors) error {
		switch {
		case f.Any() || !required:
			f.DueSince = time.Time{}
		case f.DueSince.IsZero():
			f.DueSince = time.Now().UTC()
		}
		return nil
	})
}

// askForOne answers the request of a user who has proved one factor and has no other: they are led to add one, if
// the application wants it or their grace is over, and reminded of it before. Otherwise asked is false.
func (s *Factors) askForOne(w http.ResponseWriter, r *http.Request, p Pending, query string) (asked bool, err error) {
	f, err := s.settle(r.Context(), p.User, p.Factors)
	if err != nil {
		return false, err
	}
	if f.Any() { // another request has added one meanwhile
		return s.Ask(w, r, p.User, p.By, query)
	}
	app, err := s.Pages.AppOf(r.Context(), query)
	if err != nil {
		return false, err
	}
	p.Level = s.wanted(app, query, false)
	due, now := s.Due(p.User, f), time.Now()
	spared := len(query) > web.MaxStored || !p.By.RecentAt(now) // a reminder is not worth a refusal
	if p.Level == "" && (due.IsZero() || now.Before(due) && spared) {
		return false, nil
	}
	return true, s.Enrol(w, r, p, query)
}

// Keeps reports whether the factors of a user may become these: nobody removes the last one that is required
// of them.
func (s *Factors) Keeps(u storage.User, after storage.Factors) bool {
	return after.Any() || s.Policy.Of(u.Role) != authn.MFARequired
}

// Offers reports whether a user may add a factor: they have one already, or their policy offers it.
func (s *Factors) Offers(u storage.User, f storage.Factors) bool {
	return f.Any() || s.Policy.Of(u.Role) != authn.MFAOff
}
