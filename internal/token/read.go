package token

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/keystile/keystile/internal/b64token"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// passed is a token whose signature and claims are good for ever. It is immutable but for spared.
type passed struct {
	caller    storage.Caller // without Audience
	audience  []string
	kid       string
	issuedAt  time.Time
	notBefore time.Time
	mayAct    string        // may_act.sub (RFC 8693 4.4); "" if it names nobody
	spared    atomic.Uint64 // the state of the revocations at which none of them covered it
}

// publicKey is a published key, and the one algorithm that it is used with.
type publicKey struct {
	id, alg string
	public  crypto.PublicKey
}

// finder finds a published key by its kid.
type finder interface {
	find(kid string) (publicKey, bool)
}

// read takes a token apart in the order that trusts least: its shape, its header, its
// signature, and only then what it claims.
func read(bearer string, keys finder, issuer string) (*passed, error) {
	payload, kid, err := open(bearer, TypeAccess, keys)
	if err != nil {
		return nil, err
	}
	t, err := claimed(payload, issuer)
	if err != nil {
		return nil, err
	}
	t.kid = kid
	return t, nil
}

// open returns what a token of a typ claims, and the kid of the key that has signed it.
func open(text, typ string, keys finder) (payload []byte, kid string, err error) {
	head, err := split(text)
	if err != nil {
		return nil, "", err
	}
	key, err := signer(head, typ, keys)
	if err != nil {
		return nil, "", err
	}
	payload, err = verified(text, key.alg, key.public)
	return payload, key.id, err
}

// split checks that a token is three segments of canonical base64url, and decodes the
// first. Decoders forgive line breaks, padding and stray bits in the last character; we
// do not, so that a token has one spelling.
func split(bearer string) (head []byte, err error) {
	if strings.Count(bearer, ".") != 2 {
		return nil, invalid("not three segments")
	}
	strict := base64.RawURLEncoding.Strict()
	for i, segment := range strings.Split(bearer, ".") {
		odd := func(r rune) bool { return r > 0x7F || !b64token.URLSafe(byte(r)) }
		if segment == "" || strings.ContainsFunc(segment, odd) {
			return nil, invalid("a segment is empty or not base64url")
		}
		raw, err := strict.DecodeString(segment)
		if err != nil {
			return nil, invalid("a segment is not canonical base64url")
		}
		if i == 0 {
			head = raw
		}
	}
	return head, nil
}

// signer finds the key that a header names. Only kid finds a key, and the key decides the
// algorithm (RFC 8725 3.1). Every parameter we do not write is refused, which takes care
// of crit, b64, jku, jwk, x5u and x5c.
func signer(head []byte, want string, keys finder) (key publicKey, err error) {
	h, err := parseObject(head)
	if err != nil {
		return key, invalid("header: " + err.Error())
	}
	alg, err1 := h.text("alg")
	kid, err2 := h.text("kid")
	typ, err3 := h.text("typ")
	if err1 != nil || err2 != nil || err3 != nil || len(h) != 3 {
		return key, invalid("its header must hold alg, kid and typ, and nothing else")
	}
	key, there := keys.find(kid)
	switch {
	case !strings.EqualFold(typ, want) && !strings.EqualFold(typ, "application/"+want):
		return key, invalid("typ is not " + want) // RFC 9068 4
	case !there:
		return key, ErrUnknownKey
	case key.alg != alg:
		return key, invalid("alg is not its key's")
	}
	return key, nil
}

func verified(bearer, alg string, public crypto.PublicKey) (payload []byte, err error) {
	jws, err := jose.ParseSignedCompact(bearer, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(alg)})
	if err != nil {
		return nil, invalid("not a JWS")
	}
	payload, err = jws.Verify(public)
	if err != nil {
		return nil, invalid("wrong signature")
	}
	return payload, nil
}

// skew bounds how far ahead of now the clock of another may be, such as that of an application which signs an
// assertion.
const skew = 60 * time.Second

// ahead bounds how far ahead the node that signed a token may be: each of the two may be a minute off the clock of the
// store that they share (decision 99).
const ahead = 2 * skew

// claimed reads the claims of a verified token (RFC 9068 2.2).
func claimed(payload []byte, issuer string) (*passed, error) {
	o, err := parseObject(payload)
	if err != nil {
		return nil, invalid("claims: " + err.Error())
	}
	c := reader{object: o}
	iss, sub, scope := c.name("iss"), c.name("sub"), c.text("scope")
	t := &passed{
		caller: storage.Caller{
			AppID:     c.name("client_id"),
			UserID:    sub,
			Scope:     scope,
			TokenID:   c.name("jti"),
			Grant:     c.name("gid"),
			ExpiresAt: c.time("exp"),

			Actors:        c.actors(),
			Via:           c.steps(),
			KeyThumbprint: c.thumbprint(),
		},
		audience: c.texts("aud"),
		issuedAt: c.time("iat"),
	}
	t.notBefore = t.issuedAt.Add(-ahead)
	if _, there := o["nbf"]; there {
		if nbf := c.time("nbf"); nbf.After(t.notBefore) {
			t.notBefore = nbf
		}
	}
	t.mayAct = mayAct(o)
	if c.err != nil {
		return nil, invalid(c.err.Error())
	}
	t.caller.GrantedAt = handle.GrantTime(t.caller.Grant)
	switch {
	case iss != issuer:
		return nil, invalid("from another issuer")
	case t.caller.GrantedAt.IsZero():
		return nil, invalid("gid carries no time")
	}
	if sub == t.caller.AppID {
		t.caller.UserID = "" // an application's own token (RFC 9068 2.2)
	}
	return t, nil
}

// actors reads act (RFC 8693 4.1), which holds the one who acts and, in another act, the one before.
func (r *reader) actors() (actors []string) {
	raw, more := r.object["act"]
	for more {
		o, err := parseObject(raw)
		if err != nil || len(actors) == MaxActors {
			r.complain("act", "an object, or it is too deep")
			return nil
		}
		actor, err := o.text("sub")
		if err != nil || actor == "" {
			r.complain("act", "with a sub")
			return nil
		}
		actors = append(actors, actor)
		raw, more = o["act"]
	}
	return actors
}

// steps reads via, the tokens that this one was exchanged for.
func (r *reader) steps() (all []storage.Step) {
	raw, there := r.object["via"]
	if !there {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > MaxActors {
		r.complain("via", "a list, or it is too long")
		return nil
	}
	for _, item := range list {
		o, err := parseObject(item)
		id, err2 := o.text("client_id")
		jti, err3 := o.text("jti")
		if err != nil || err2 != nil || err3 != nil || id == "" {
			r.complain("via", "a list of client_id and jti")
			return nil
		}
		all = append(all, storage.Step{AppID: id, TokenID: jti})
	}
	return all
}

// thumbprint reads cnf (RFC 7800), of which only jkt is known here: a token that is bound in another way is refused.
func (r *reader) thumbprint() string {
	raw, there := r.object["cnf"]
	if !there {
		return ""
	}
	o, err := parseObject(raw)
	jkt, err2 := o.text("jkt")
	if err != nil || err2 != nil || len(o) != 1 || !IsThumbprint(jkt) {
		r.complain("cnf", "an object with jkt alone")
	}
	return jkt
}

// IsThumbprint reports whether a text is a SHA-256 in base64url (RFC 7638), as cnf.jkt and dpop_jkt are.
func IsThumbprint(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == sha256.Size
}
