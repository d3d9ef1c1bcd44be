package factor

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// The pages of a sign-in that waits until its user has added a factor.
const (
	EnrolPath  = Path + "/new"   // adds it
	RemindPath = Path + "/due"   // says until when there is time, and offers to go on without
	LaterPath  = Path + "/later" // goes on without
)

const enrolLife = 20 * time.Minute // there may be an app to install first

// ErrHas says that the user of a sign-in that waits for a first second factor has one by now.
var ErrHas = errors.New("signin: the user has a second factor already")

// Enrol answers the request of a user who has no second factor where one is wanted: they add one, and then the
// sign-in goes on to the query. The Pending says who they are and how they proved it; its Level is what an
// application wants, "" if only the policy does: then there may be time until later. A user who proved it too long
// ago, by a session that is still open, is asked to sign in again first: the finder of an open browser must not add
// a factor of their own.
//
// Enrol is for users without a factor. For others it does nothing; call Ask.
func (s *Factors) Enrol(w http.ResponseWriter, r *http.Request, p Pending, query string) error {
	if !p.By.RecentAt(time.Now()) {
		return s.showAgain(w, r, p.User, query)
	}
	f, err := s.settle(r.Context(), p.User, p.Factors)
	if err != nil {
		return err
	}
	p.Enrol, p.Factors = true, f
	return s.hold(w, r, p, query)
}

// showAgain shows the sign-in form to a user; afterwards they go on to the query. A provider that would let them in
// by an old session is asked for a new sign-in, or they would see this page for ever.
func (s *Factors) showAgain(w http.ResponseWriter, r *http.Request, u storage.User, query string) error {
	t, err := s.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	return t.Again().Show(w, http.StatusOK, web.FormPage, &web.View{
		Title: "Sign in", Username: u.Username,
		Lead: t.Lang.T("Sign in once more, so that we know it is you. Then set up your second factor."),
	})
}

// Enrolment returns the sign-in that waits in the browser of a request until its user has added a factor. It
// returns ErrEnded if there is none, and ErrHas if the user has a factor by now: then the first one alone
// may add no other.
func (s *Factors) Enrolment(r *http.Request) (Pending, error) {
	p, err := s.waiting(r)
	switch {
	case err != nil:
		return p, err
	case !p.Enrol:
		return p, ErrEnded
	case p.Factors.Any():
		return p, ErrHas
	}
	return p, nil
}

// Bound names a sign-in that waits, to whatever is to belong to it alone.
func (p Pending) Bound() string { return p.ticket.ID }

// Query returns the request that a sign-in leads to.
func (p Pending) Query() string { return p.ticket.Query }

// Until returns until when the user of a sign-in that waits may go on without a factor; the zero time if they may
// not.
func (s *Factors) Until(p Pending) time.Time {
	due := s.Due(p.User, p.Factors)
	if p.Level != "" || !time.Now().Before(due) {
		return time.Time{}
	}
	return due
}

// UseUp ends a sign-in that waits: of two requests one goes on, the other gets ErrEnded.
func (s *Factors) UseUp(r *http.Request, p Pending) error { return s.use(r, p.ticket) }

// Enrolled begins the session of a user who has just added a factor, proved in these ways, and returns where the
// sign-in leads. The sign-in has been used up before.
func (s *Factors) Enrolled(w http.ResponseWriter, r *http.Request, p Pending, amr ...string) (to string, err error) {
	by := p.By.With(amr...)
	by.At = p.By.Time()
	return s.Begin(w, r, p.User, by, p.ticket.Query)
}

// Later goes on with a sign-in without a factor, while there is time.
func (s *Factors) Later(w http.ResponseWriter, r *http.Request, p Pending) error {
	if s.Until(p).IsZero() {
		return web.SeeOther(w, EnrolPath)
	}
	if err := s.UseUp(r, p); err != nil {
		return err
	}
	return s.Base.Finish(w, r, p.User, p.By, p.ticket.Query)
}
