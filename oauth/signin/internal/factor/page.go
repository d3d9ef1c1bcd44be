package factor

import (
	"embed"
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

//go:embed factor.html
var files embed.FS

var factorPage = web.Parse(files, "factor")

// view holds what the page shows.
type view struct {
	web.View
	Authenticator, Recovery bool // the user has one
	Passkeys, Resistant     bool // the user has some; nothing else will do
	Action                  string
	Trust                   bool   // the browser may be trusted
	Rest, Stopped           bool   // codes of the app are not taken now; no code is
	ByEmail                 string // where to sign in with a code by email, after which they are; "": nowhere
}

// Show shows the page to a user whose sign-in waits there.
func (s *Factors) Show(w http.ResponseWriter, r *http.Request, p Pending, status int, alert string) error {
	t, err := s.Pages.Restore(r.Context(), r, p.ticket.Query)
	if err != nil {
		return err
	}
	v := view{
		View: web.View{Title: "Confirm that it is you", Username: p.User.Username}, Action: Path,
		Authenticator: p.Factors.Authenticator != nil && p.Level != LevelResistant &&
			p.rests(p.Factors, typed{code: "any"}) == nil,
		Recovery: p.Factors.CodesLeft() > 0 && p.Level != LevelResistant && !p.Factors.CodesStopped(),
		Passkeys: s.Pages.Passkeys && len(p.Factors.Passkeys) > 0, Resistant: p.Level == LevelResistant,
		Trust: !p.Raise && p.Level == "" && !demands(p.ticket.Query),
	}
	v.Live = v.Passkeys
	if p.Why != "" {
		v.Lead = t.Lang.T(p.Why)
	}
	if v.Stopped = p.Factors.CodesStopped(); p.Factors.Authenticator != nil && p.Level != LevelResistant &&
		!v.Authenticator && !v.Stopped {
		v.Rest, v.ByEmail = true, t.ByEmail(p.User)
	}
	if alert != "" {
		v.Alert = t.Lang.T(alert)
	}
	return t.Show(w, status, factorPage, &v)
}

// ShowEnded shows the sign-in page to a user whose sign-in has ended, and says so.
func (s *Factors) ShowEnded(w http.ResponseWriter, r *http.Request) error {
	return s.Pages.ShowFormWithAlert(w, r, http.StatusBadRequest, "",
		"This sign-in was begun in another browser, or too long ago. Begin again.")
}

func (s *Factors) submit(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadFields(w, r, "code", "recovery", "trust")
	if err != nil {
		return err
	}
	p, err := s.Pending(r)
	if errors.Is(err, ErrEnded) {
		return s.ShowEnded(w, r)
	}
	if err != nil {
		return err
	}
	if in["code"] == "" && in["recovery"] == "" { // no guess, so no failure either
		return s.Show(w, r, p, http.StatusBadRequest, "Type in a code.")
	}
	throttle, err := s.prove(r, &p, typed{in["code"], in["recovery"]})
	switch {
	case throttle.Wait > 0:
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, p.ticket.Query, throttle.Wait, false)
	case errors.Is(err, ErrEnded):
		return s.ShowEnded(w, r)
	case errors.Is(err, errRest):
		s.Trail.Refused(r, http.StatusForbidden, "")
		return s.Show(w, r, p, http.StatusForbidden, "")
	case errors.Is(err, storage.ErrNotFound):
		s.Trail.Refused(r, http.StatusUnauthorized, p.User.Sub)
		return s.Show(w, r, p, http.StatusUnauthorized, "The code is not right. Check it and try again.")
	case err != nil:
		return err
	}
	if in["trust"] != "" && !p.Raise && p.Level == "" && !demands(p.ticket.Query) {
		s.trust(w, r, p.Factors)
	}
	err = s.Finish(w, r, p, authn.AMRCode)
	if errors.Is(err, ErrEnded) {
		return s.ShowEnded(w, r)
	}
	return err
}
