package passkey

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
)

var (
	notWaiting = &reply.Failure{Status: http.StatusNotFound,
		Msg: "no sign-in waits for a second factor in this browser: begin again"}
	noPasskey = &reply.Failure{Status: http.StatusNotFound, Msg: "you have no passkey here: use another way"}
)

// ended makes a failure of a sign-in that waits no longer.
func ended(err error) error {
	if errors.Is(err, factor.ErrEnded) {
		return notWaiting
	}
	return err
}

// proveSecond ends a sign-in that waits for a second factor.
func (s *Passkeys) proveSecond(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadFields(w, r, "assertion")
	if err != nil {
		return err
	}
	p, err := s.Factors.Pending(r)
	if errors.Is(err, factor.ErrEnded) {
		return s.Factors.ShowEnded(w, r)
	}
	if err != nil {
		return err
	}
	var c webauthn.Credential
	throttle, err := s.Factors.Guarded(r, &p, func(ctx context.Context) error {
		a, err := s.read(ctx, in["assertion"], second, waiting(r, p.User), protocol.VerificationPreferred)
		if err == nil {
			c, err = s.prove(r, p.User, a)
		}
		return err
	})
	switch {
	case throttle.Wait > 0:
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, p.Query(), throttle.Wait, false)
	case errors.Is(err, factor.ErrEnded):
		return s.Factors.ShowEnded(w, r)
	case errors.Is(err, errRefused):
		s.Log.InfoContext(r.Context(), "passkey refused", "sub", p.User.Sub, "ip", s.Peer(r), "why", err)
		s.Trail.Refused(r, http.StatusUnauthorized, p.User.Sub)
		return s.Factors.Show(w, r, p, http.StatusUnauthorized, "The passkey was not accepted. Try again.")
	case errors.Is(err, errChanged):
		s.Log.InfoContext(r.Context(), "passkey refused", "sub", p.User.Sub, "ip", s.Peer(r), "why", err)
		return s.Factors.Show(w, r, p, http.StatusUnauthorized, changedText)
	case err != nil:
		return err
	}
	err = s.Factors.Finish(w, r, p, amrOf(c)...)
	if errors.Is(err, factor.ErrEnded) {
		return s.Factors.ShowEnded(w, r)
	}
	return err
}
