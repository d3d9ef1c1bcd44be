package passkey

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

var (
	signInFirst = &reply.Failure{Status: http.StatusForbidden, Msg: "sign in once more, then add the passkey"}
	longSub     = &reply.Failure{Status: http.StatusBadRequest, Msg: "this user cannot have passkeys: their sub has more than 64 bytes"}
)

// selection asks for passkeys that know their user and can verify them.
var selection = protocol.AuthenticatorSelection{
	ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired,
}

// adder names who may answer the challenge of a new passkey: the user, in this session.
func adder(v storage.Session, u storage.User) string { return v.ID + ":" + u.Sub }

// beginAdd answers the script with what a browser has to know to make a passkey.
func (s *Passkeys) beginAdd(w http.ResponseWriter, r *http.Request) error {
	if err := s.Pages.CheckOrigin(r); err != nil {
		return err
	}
	v, u, err := s.Sessions.Recent(r)
	switch {
	case err != nil && v.ID == "" && !errors.Is(err, storage.ErrNotFound):
		return err
	case err != nil:
		return signInFirst
	case len(u.Sub) > maxHandle:
		return longSub
	}
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	o, err := ownerOf(u, f)
	if err != nil {
		return err
	}
	challenge, err := s.draw(r.Context(), adding, adder(v, u))
	if err != nil {
		return err
	}
	options, _, err := s.party.BeginRegistration(o, webauthn.WithAuthenticatorSelection(selection),
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

// add adds the passkey that a browser has made.
func (s *Passkeys) add(w http.ResponseWriter, r *http.Request) error {
	in, v, u, done, err := s.change(w, r, "name", "credential")
	if done {
		return err
	}
	name := nameOf(in["name"])
	if name == "" {
		return s.show(w, r, v, u, http.StatusBadRequest, "Give the passkey a name. It has 100 letters at most, and fewer if they are Chinese.")
	}
	p, err := s.made(r, v, u, in["credential"])
	if err == nil {
		p.Name = name
		err = s.changed(w, r, u, "Passkey added", name, func(f *storage.Factors) error {
			switch {
			case f.Passkey(p.ID) != nil:
				return fmt.Errorf("%s is there already: %w", p.ID, storage.ErrExists)
			case len(f.Passkeys) >= authn.MaxPasskeys:
				return storage.ErrExists
			}
			f.Passkeys = append(f.Passkeys[:len(f.Passkeys):len(f.Passkeys)], p)
			return nil
		})
	}
	switch {
	case errors.Is(err, errRefused):
		s.Log.InfoContext(r.Context(), "passkey not added", "sub", u.Sub, "ip", s.Peer(r), "why", err)
		return s.show(w, r, v, u, http.StatusBadRequest, "The passkey could not be added. Try again.")
	case errors.Is(err, storage.ErrExists):
		return s.show(w, r, v, u, http.StatusBadRequest, "This passkey is there already, or you have as many as there may be.")
	}
	return err
}

// made checks what a browser has made for a user in this session.
func (s *Passkeys) made(r *http.Request, v storage.Session, u storage.User, text string) (p authn.Passkey, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(text))
	if err != nil {
		return p, refused(err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	if err := s.ours(r.Context(), challenge, adding, adder(v, u)); err != nil {
		return p, err
	}
	o := owner{user: u}
	c, err := s.party.CreateCredential(o, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: s.party.Config.RPID, UserID: o.WebAuthnID(), UserVerification: protocol.VerificationRequired,
		CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return p, refused(err)
	}
	if err := s.use(r.Context(), challenge, u.Sub); err != nil {
		return p, err
	}
	p = authn.Passkey{ID: base64.RawURLEncoding.EncodeToString(c.ID), CreatedAt: time.Now().UTC()}
	return p, keep(&p, *c)
}
