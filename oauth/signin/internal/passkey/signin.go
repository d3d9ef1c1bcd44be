package passkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

const refusedText = "The passkey was not accepted. Try again, or sign in another way."

// beginSignIn answers the script of the sign-in page with a challenge for a user who has a passkey here. The
// browser keeps the id that it has, because other tabs may have begun something with it: a challenge is no secret,
// and only the owner of the passkey can answer it.
func (s *Passkeys) beginSignIn(w http.ResponseWriter, r *http.Request) error {
	if err := s.Pages.CheckOrigin(r); err != nil {
		return err
	}
	if err := s.tooMany(r); err != nil {
		return err
	}
	browser := web.BrowserOf(r)
	if browser == "" {
		browser = s.Pages.Bind(w)
	}
	challenge, err := s.draw(r.Context(), signingIn, browser)
	if err != nil {
		return err
	}
	options, _, err := s.Party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired),
		with(challenge))
	if err != nil {
		return err
	}
	return answer(w, options.Response)
}

// with is a login option: a challenge of ours.
func with(challenge protocol.URLEncodedBase64) webauthn.LoginOption {
	return func(o *protocol.PublicKeyCredentialRequestOptions) error {
		o.Challenge = challenge
		return nil
	}
}

// signIn signs in who answers a challenge with a passkey. Its user has been verified, so nothing else is asked for.
func (s *Passkeys) signIn(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadCarried(w, r, "assertion")
	if err != nil {
		return err
	}
	u, c, throttle, err := s.attempt(r, in["assertion"])
	switch {
	case throttle.Wait > 0:
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, in["query"], throttle.Wait, throttle.Account)
	case errors.Is(err, errRefused):
		s.Log.InfoContext(r.Context(), "sign-in refused", "ip", s.Peer(r), "why", err)
		s.Trail.Refused(r, http.StatusUnauthorized, throttle.Sub)
		return s.Pages.ShowFormWithAlert(w, r, http.StatusUnauthorized, in["query"], refusedText)
	case errors.Is(err, errChanged):
		s.Log.InfoContext(r.Context(), "passkey refused", "sub", u.Sub, "ip", s.Peer(r), "why", err)
		return s.Pages.ShowFormWithAlert(w, r, http.StatusUnauthorized, in["query"], changedText)
	case err != nil:
		return err
	}
	s.Log.InfoContext(r.Context(), "signed in with a passkey", "sub", u.Sub, "ip", s.Peer(r))
	amr := strings.Join(append(amrOf(c), authn.AMRMultifactor), " ")
	return s.SignIn(w, r, u, session.Proof{Method: Method, AMR: amr}, in["query"])
}

// attempt does an attempt to sign in, unless the guard or the delay of the account says to wait.
func (s *Passkeys) attempt(r *http.Request,
	text string) (u storage.User, c webauthn.Credential, throttle attempt.Throttle, err error) {
	ctx, ip := r.Context(), s.Peer(r)
	if wait := s.Guard.Begin(ctx, ip); wait > 0 {
		return u, c, attempt.Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { s.Guard.End(ctx, ip, failed) }()
	defer func() { failed = errors.Is(err, errRefused) }() // runs first
	a, err := s.read(ctx, text, signingIn, web.BrowserOf(r), protocol.VerificationRequired)
	if err == nil {
		u, err = s.named(ctx, a)
	}
	if err != nil {
		return u, c, throttle, err
	}
	if err = s.owns(ctx, u.Sub, a.id); err != nil {
		return u, c, throttle, err
	}
	wait, end := s.Attempts.Turns.Begin(ctx, limits.AccountOf(attempt.ByPasskey, u.Sub), network.Of(ip))
	if wait > 0 {
		return u, c, attempt.Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { end(errors.Is(err, errRefused)) }()
	c, err = s.prove(r, u, a)
	return u, c, attempt.Throttle{Sub: u.Sub}, err
}

// owns returns errRefused if a user has no passkey with an id.
func (s *Passkeys) owns(ctx context.Context, sub, id string) error {
	f, err := s.Store.Factors(ctx, sub)
	if err == nil && f.Passkey(id) == nil {
		err = fmt.Errorf("%w: no passkey of the user", errRefused)
	}
	return err
}

// beginSecond answers the script of the page of a second factor with a challenge for the user who waits there.
func (s *Passkeys) beginSecond(w http.ResponseWriter, r *http.Request) error {
	if err := s.Pages.CheckOrigin(r); err != nil {
		return err
	}
	if err := s.tooMany(r); err != nil {
		return err
	}
	p, err := s.Factors.Pending(r)
	if err != nil {
		return ended(err)
	}
	o, err := ownerOf(p.User, p.Factors)
	if err != nil {
		return err
	}
	if len(o.passkeys) == 0 {
		return noPasskey
	}
	challenge, err := s.draw(r.Context(), second, waiting(r, p.User))
	if err != nil {
		return err
	}
	options, _, err := s.Party.BeginLogin(o, webauthn.WithUserVerification(protocol.VerificationPreferred),
		with(challenge))
	if err != nil {
		return err
	}
	return answer(w, options.Response)
}

// waiting names who may answer the challenge of a second factor: the browser, for the user who waits in it.
func waiting(r *http.Request, u storage.User) string {
	browser := web.BrowserOf(r)
	if browser == "" {
		return ""
	}
	return handle.Hash(browser + ":" + u.Sub)
}
