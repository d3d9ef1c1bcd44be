package passkey

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// assertion holds what a browser answers to a challenge.
type assertion struct {
	*protocol.ParsedCredentialAssertionData
	id, challenge string
	verify        protocol.UserVerificationRequirement
}

// read reads an answer to a challenge of a ceremony that who may answer.
func (s *Passkeys) read(ctx context.Context, text, ceremony, who string,
	verify protocol.UserVerificationRequirement) (a assertion, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(text))
	if err != nil {
		return a, refused(err)
	}
	a = assertion{parsed, base64.RawURLEncoding.EncodeToString(parsed.RawID),
		parsed.Response.CollectedClientData.Challenge, verify}
	return a, s.ours(ctx, a.challenge, ceremony, who)
}

// refused keeps what the library says for the log.
func refused(err error) error {
	if p := new(protocol.Error); errors.As(err, &p) {
		return fmt.Errorf("%w: %s %s", errRefused, p.Details, p.DevInfo)
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// named returns the user whom an answer names, or errRefused. A disabled one is nobody.
func (s *Passkeys) named(ctx context.Context, a assertion) (storage.User, error) {
	sub := string(a.Response.UserHandle)
	if !driver.ValidName(sub) || len(sub) > maxHandle {
		return storage.User{}, fmt.Errorf("%w: it names no user", errRefused)
	}
	u, err := s.Users.User(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) || err == nil && u.Disabled {
		err = fmt.Errorf("%w: there is no such user, or they are disabled", errRefused)
	}
	return u, err
}

// check returns the credential of a user that an answer has been signed with, as it is after that.
func (s *Passkeys) check(u storage.User, f storage.Factors, a assertion) (c webauthn.Credential, err error) {
	p := f.Passkey(a.id)
	if p == nil {
		return c, fmt.Errorf("%w: no passkey of the user", errRefused)
	}
	o := owner{user: u}
	if c, err = credentialOf(*p); err != nil {
		return c, err
	}
	c.Authenticator.CloneWarning = false // what it says is about this answer
	o.passkeys = []webauthn.Credential{c}
	checked, err := s.Party.ValidateLogin(o, webauthn.SessionData{
		Challenge: a.challenge, RelyingPartyID: s.Party.Config.RPID, UserID: o.WebAuthnID(), UserVerification: a.verify,
	}, a.ParsedCredentialAssertionData)
	if err != nil && s.signed(c, a) {
		return c, errChanged
	}
	if err != nil {
		return c, refused(err)
	}
	return *checked, nil
}

// errChanged says that an answer is the user's, and that the passkey is backed up in another way than when it was
// added, which WebAuthn does not allow (level 3, 7.2 step 18). It is no guess.
var errChanged = errors.New("signin: whether the passkey can be backed up has changed")

const changedText = "Your passkey is kept in another way than when you added it; perhaps it is synced now. Sign in " +
	"another way, remove it and add it again."

// signed reports whether an answer is all that it must be, but for what it says of backups.
func (s *Passkeys) signed(c webauthn.Credential, a assertion) bool {
	of := s.Party.Config
	return a.Verify(a.challenge, of.RPID, "", of.RPOrigins, of.RPOpaqueOrigins, of.RPTopOrigins,
		of.RPTopOriginVerificationMode, of.RPAllowCrossOrigin,
		a.verify == protocol.VerificationRequired, true, c.PublicKey, of.Signature) == nil
}

// prove checks an answer of a user, uses its challenge up and writes that the passkey was used. errRefused
// means that it proves nothing.
func (s *Passkeys) prove(r *http.Request, u storage.User, a assertion) (c webauthn.Credential, err error) {
	ctx := r.Context()
	f, err := s.Store.Factors(ctx, u.Sub)
	if err == nil {
		_, err = s.check(u, f, a)
	}
	if err == nil { // before, nobody can make the store grow
		err = s.use(ctx, a.challenge, u.Sub)
	}
	if err != nil {
		return c, err
	}
	_, err = s.Factors.Change(ctx, u.Sub, func(f *storage.Factors) (err error) {
		if c, err = s.check(u, *f, a); err != nil { // it may have been removed meanwhile
			return err
		}
		p := *f.Passkey(a.id)
		p.UsedAt = time.Now().UTC()
		if err := keep(&p, c); err != nil {
			return err
		}
		f.Passkeys, f.WrongCodes = replace(f.Passkeys, p), 0
		return nil
	})
	if err == nil && c.Authenticator.CloneWarning {
		s.tellCopied(r, u, a.id)
	}
	return c, err
}

// tellCopied tells of a counter that has not risen.
func (s *Passkeys) tellCopied(r *http.Request, u storage.User, id string) {
	s.Log.WarnContext(r.Context(), "the counter of a passkey has not risen: it may have been copied", "sub", u.Sub,
		"passkey", id, "ip", s.Peer(r))
	s.Trail.Write(r, event.Account, event.Event{User: u.Sub, Detail: "passkey counter has not risen: " + id})
	s.Notices.Notify(r.Context(), u.Sub, s.Notices.FromRequest(r, event.NoticeAccount,
		"One of your passkeys may have been copied. If you have not restored a device, remove it and add a new one."))
}
