package token

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// MaxActors bounds how often a token is handed on: the depth of act.
const MaxActors = 10

// Claims holds the claims of an access token (RFC 9068 2.2).
type Claims struct {
	Issuer    string
	Subject   string // the user, or ClientID for an application acting for itself
	Audience  string // the issuer, or the resource asked for (RFC 8707)
	ClientID  string
	Scope     string // space-separated
	ID        string // jti
	Grant     string // gid, of handle.NewGrant
	IssuedAt  time.Time
	ExpiresAt time.Time

	Groups []string // of the subject, when the token was made; nil: the claim is not there

	Actors        []string       // act (RFC 8693 4.1), the current one first; at most MaxActors
	Via           []storage.Step // see storage.Caller; at most MaxActors
	KeyThumbprint string         // cnf.jkt (RFC 9449 6.1); "": a bearer token
}

// ErrTooLong is the error of claims that make a token longer than any service here reads.
var ErrTooLong = errors.New("token: the access token would be longer than 8 KiB")

// SignAccess makes an access token with the default algorithm. It refuses claims that
// Verify would refuse, so that nobody is handed a token that does not work. Groups that would make the token too long
// are left out, all of them: the first few could be taken for all.
func (k *Keys) SignAccess(c Claims) (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	token, err := k.Sign("", TypeAccess, c.append(make([]byte, 0, 512)))
	if len(token) > maxToken && c.Groups != nil {
		c.Groups = nil
		return k.SignAccess(c)
	}
	if len(token) > maxToken {
		return "", ErrTooLong
	}
	return token, err
}

func (c Claims) check() error {
	for _, text := range []string{c.Issuer, c.Subject, c.Audience, c.ClientID, c.ID, c.Grant} {
		if text == "" {
			return errors.New("token: iss, sub, aud, client_id, jti and gid must not be empty")
		}
		if !utf8.ValidString(text) {
			return errors.New("token: a claim is not UTF-8")
		}
	}
	switch {
	case !utf8.ValidString(c.Scope):
		return errors.New("token: scope is not UTF-8")
	case handle.GrantTime(c.Grant).IsZero():
		return errors.New("token: gid is not of storage.NewGrant's making")
	case c.ExpiresAt.Unix() <= c.IssuedAt.Unix():
		return errors.New("token: exp must be after iat")
	case len(c.Actors) > MaxActors, len(c.Via) > MaxActors:
		return fmt.Errorf("token: it was handed on more than %d times", MaxActors)
	}
	for _, actor := range c.Actors {
		if actor == "" || !utf8.ValidString(actor) {
			return errors.New("token: an actor is empty or not UTF-8")
		}
	}
	for _, step := range c.Via {
		if step.AppID == "" || !utf8.ValidString(step.AppID) || !utf8.ValidString(step.TokenID) {
			return errors.New("token: a token that it was exchanged for has no application, or is not UTF-8")
		}
	}
	return nil
}

func (c Claims) append(b []byte) []byte {
	b = rawjson.AppendString(append(b, `{"iss":`...), c.Issuer)
	b = rawjson.AppendString(append(b, `,"sub":`...), c.Subject)
	b = rawjson.AppendString(append(b, `,"aud":`...), c.Audience)
	b = rawjson.AppendString(append(b, `,"client_id":`...), c.ClientID)
	b = rawjson.AppendString(append(b, `,"scope":`...), c.Scope)
	b = rawjson.AppendString(append(b, `,"jti":`...), c.ID)
	b = rawjson.AppendString(append(b, `,"gid":`...), c.Grant)
	b = strconv.AppendInt(append(b, `,"iat":`...), c.IssuedAt.Unix(), 10)
	b = strconv.AppendInt(append(b, `,"exp":`...), c.ExpiresAt.Unix(), 10)
	if c.Groups != nil {
		b = rawjson.AppendStrings(append(b, `,"groups":`...), c.Groups)
	}
	if len(c.Actors) > 0 {
		b = append(b, `,"act":`...)
		for i, actor := range c.Actors {
			if i > 0 {
				b = append(b, `,"act":`...)
			}
			b = rawjson.AppendString(append(b, `{"sub":`...), actor)
		}
		b = append(b, "}}}}}}}}}}"[:len(c.Actors)]...)
	}
	if len(c.Via) > 0 {
		b = append(b, `,"via":[`...)
		for i, step := range c.Via {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(append(b, `{"client_id":`...), step.AppID)
			b = append(rawjson.AppendString(append(b, `,"jti":`...), step.TokenID), '}')
		}
		b = append(b, ']')
	}
	if c.KeyThumbprint != "" {
		b = append(rawjson.AppendString(append(b, `,"cnf":{"jkt":`...), c.KeyThumbprint), '}')
	}
	return append(b, '}')
}
