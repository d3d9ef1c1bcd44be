package passkey

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

var (
	signInFirst = &reply.Failure{Status: http.StatusForbidden, Msg: "sign in once more, then add the passkey"}
	longSub     = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "this user cannot have passkeys: their sub has more than 64 bytes"}
)

// selection asks for passkeys that know their user and can verify them.
var selection = protocol.AuthenticatorSelection{
	ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
	UserVerification: protocol.VerificationRequired,
}

// adder names who may answer the challenge of a new passkey: the user, in this session.
func adder(v storage.Session, u storage.User) string { return v.ID + ":" + u.Sub }

// beginAdd answers the script with what a browser has to know to make a passkey.
func (s *Passkeys) beginAdd(w http.ResponseWriter, r *http.Request) error {
	if err := s.Pages.CheckOrigin(r); err != nil {
		return err
	}
	if err := s.tooMany(r); err != nil {
		return err
	}
	v, u, f, err := s.VisitFresh(r)
	switch {
	case errors.Is(err, storage.ErrNotFound), errors.Is(err, session.ErrStale):
		return signInFirst
	case err != nil:
		return err
	case len(u.Sub) > maxHandle:
		return longSub
	}
	o, err := ownerOf(u, f)
	if err != nil {
		return err
	}
	challenge, err := s.draw(r.Context(), adding, adder(v, u))
	if err != nil {
		return err
	}
	options, _, err := s.Party.BeginRegistration(o, webauthn.WithAuthenticatorSelection(selection),
		webauthn.WithExclusions(webauthn.Credentials(o.passkeys).CredentialDescriptors()),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = challenge
			return nil
		})
	if err != nil {
		return err
	}
	return answer(w, options.Response)
}

func (s *Passkeys) add(w http.ResponseWriter, r *http.Request) error {
	q, done, err := s.change(w, r, "name", "credential")
	if errors.Is(err, session.ErrStale) { // what the browser has made is for this session, so it is made anew
		return s.ConfirmFor(w, r, q.v, q.u, web.FactorsPath)
	}
	if done {
		return err
	}
	name := nameOf(q.in["name"])
	if name == "" {
		return s.show(w, r, q.v, q.u, http.StatusBadRequest, badName)
	}
	p, amr, err := s.made(r, q.v, q.u, q.in["credential"])
	var after storage.Factors
	if err == nil {
		p.Name = name
		after, err = s.changed(r, q, "Passkey added", name, func(f *storage.Factors) error {
			if f.Passkey(p.ID) != nil || len(f.Passkeys) >= authn.MaxPasskeys || !s.Factors.Offers(q.u, *f) {
				return storage.ErrExists
			}
			f.Passkeys, f.DueSince = append(slices.Clone(f.Passkeys), p), time.Time{}
			return nil
		})
	}
	switch {
	case errors.Is(err, errRefused):
		s.Log.InfoContext(r.Context(), "passkey not added", "sub", q.u.Sub, "ip", s.Peer(r), "why", err)
		return s.show(w, r, q.v, q.u, http.StatusBadRequest, "The passkey could not be added. Try again.")
	case errors.Is(err, storage.ErrExists):
		return s.show(w, r, q.v, q.u, http.StatusBadRequest,
			"This passkey is there already, or you have as many as there may be.")
	case err != nil:
		return err
	}
	// Making it has verified its user, as proving it would.
	if err := s.Sessions.Begin(w, r, q.u, session.ProofOf(q.v).With(amr...), web.LangFor(r, "")); err != nil {
		return err
	}
	if s.Codes != "" && after.CodesLeft() == 0 {
		return web.SeeOther(w, s.Codes)
	}
	return web.SeeOther(w, Path)
}

func (s *Passkeys) made(r *http.Request, v storage.Session, u storage.User,
	text string) (p authn.Passkey, amr []string, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(text))
	if err != nil {
		return p, nil, refused(err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	if err := s.ours(r.Context(), challenge, adding, adder(v, u)); err != nil {
		return p, nil, err
	}
	o := owner{user: u}
	c, err := s.Party.CreateCredential(o, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: s.Party.Config.RPID, UserID: o.WebAuthnID(),
		UserVerification: protocol.VerificationRequired,
		CredParams:       webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return p, nil, refused(err)
	}
	if err := s.use(r.Context(), challenge, u.Sub); err != nil {
		return p, nil, err
	}
	p = authn.Passkey{ID: base64.RawURLEncoding.EncodeToString(c.ID), CreatedAt: time.Now().UTC()}
	err = keep(&p, *c)
	return p, amrOf(*c), err
}
