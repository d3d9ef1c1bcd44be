package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// VerifyID returns the subject of an id_token that issuer has made for an application. It
// may have expired: as a hint (OpenID Connect RP-Initiated Logout 1.0, 2) it only tells
// whom the application means. HS256 is checked with each of the application's live
// secrets, anything else with the published key that the header names. The error is
// ErrInvalid.
func (k *Keys) VerifyID(idToken, issuer string, app storage.App) (sub string, err error) {
	if len(idToken) > maxToken {
		return "", invalid("longer than 8 KiB")
	}
	head, err := split(idToken)
	if err != nil {
		return "", err
	}
	payload, err := k.verifiedID(idToken, head, app)
	if err != nil {
		return "", err
	}
	o, err := parseObject(payload)
	if err != nil {
		return "", invalid("claims: " + err.Error())
	}
	c := reader{object: o}
	iss, aud, sub := c.name("iss"), c.name("aud"), c.name("sub")
	switch {
	case c.err != nil:
		return "", invalid(c.err.Error())
	case iss != issuer:
		return "", invalid("from another issuer")
	case aud != app.ID:
		return "", invalid("made for another application")
	}
	return sub, nil
}

// IDFacts holds what a good id_token says.
type IDFacts struct {
	Subject             string
	IssuedAt, ExpiresAt time.Time
	MayAct              string // see Facts
}

// ReadID returns what an id_token says that issuer has made for an application and signed with a key that it publishes,
// while it is good. Anyone who has an appkey can make one with HS256: that is none here. The error is ErrInvalid.
func (k *Keys) ReadID(idToken, issuer, clientID string, now time.Time) (f IDFacts, err error) {
	if len(idToken) > maxToken {
		return f, invalid("longer than 8 KiB")
	}
	head, err := split(idToken)
	if err != nil {
		return f, err
	}
	payload, err := k.verifiedID(idToken, head, storage.App{}) // without secrets
	if err != nil {
		return f, err
	}
	o, err := parseObject(payload)
	if err != nil {
		return f, invalid("claims: " + err.Error())
	}
	c := reader{object: o}
	iss, aud := c.name("iss"), c.name("aud")
	f = IDFacts{Subject: c.name("sub"), IssuedAt: c.time("iat"), ExpiresAt: c.time("exp"), MayAct: mayAct(o)}
	switch {
	case c.err != nil:
		return IDFacts{}, invalid(c.err.Error())
	case iss != issuer:
		return IDFacts{}, invalid("from another issuer")
	case aud != clientID:
		return IDFacts{}, invalid("made for another application")
	case !now.Before(f.ExpiresAt):
		return IDFacts{}, errExpired
	case f.IssuedAt.After(now.Add(ahead)):
		return IDFacts{}, errEarly
	}
	return f, nil
}

// mayAct returns who may act for the user (RFC 8693 4.4). A claim with more than sub means more than is known here.
func mayAct(o object) (sub string) {
	raw, there := o["may_act"]
	if !there {
		return ""
	}
	if may, err := parseObject(raw); err == nil && len(may) == 1 {
		sub, _ = may.text("sub")
	}
	return sub
}

// verifiedID returns what an id_token's signature vouches for. Of an HS256 header no more
// is read than alg and typ, because we write no kid there.
func (k *Keys) verifiedID(idToken string, head []byte, app storage.App) ([]byte, error) {
	h, err := parseObject(head)
	if err != nil {
		return nil, invalid("header: " + err.Error())
	}
	alg, err1 := h.text("alg")
	typ, err2 := h.text("typ")
	if err1 != nil || err2 != nil || typ != TypeID {
		return nil, invalid("its header is not that of an id_token")
	}
	if alg == HS256 {
		if len(h) != 2 {
			return nil, invalid("an HS256 header holds alg and typ, and nothing else")
		}
		return sharedPayload(idToken, app, time.Now())
	}
	kid, err := h.text("kid")
	if err != nil || len(h) != 3 {
		return nil, invalid("its header must hold alg, kid and typ, and nothing else")
	}
	key := k.at(time.Now()).byID[kid]
	switch {
	case key == nil:
		return nil, invalid("unknown kid")
	case key.Alg != alg:
		return nil, invalid("alg is not its key's")
	}
	return verified(idToken, key.Alg, key.private.Public())
}

// sharedPayload returns the payload of a token that is signed with a live secret of an
// application. Of one whose secret proves nothing, nothing signed with it is good.
func sharedPayload(text string, app storage.App, now time.Time) ([]byte, error) {
	dot := strings.LastIndexByte(text, '.')
	signature, err := base64.RawURLEncoding.DecodeString(text[dot+1:])
	if err != nil {
		return nil, invalid("a segment is not base64url")
	}
	good := false
	for _, s := range app.Secrets {
		if !app.TakesSecret() || s.Secret.IsZero() || !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt) {
			continue
		}
		mac := hmac.New(sha256.New, []byte(s.Secret.Reveal()))
		mac.Write([]byte(text[:dot]))
		good = hmac.Equal(signature, mac.Sum(nil)) || good
	}
	if !good {
		return nil, invalid("wrong signature")
	}
	_, payload, _ := strings.Cut(text[:dot], ".")
	return base64.RawURLEncoding.DecodeString(payload)
}
