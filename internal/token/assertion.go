package token

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	ps256 = "PS256"
	// maxAssertion bounds how long ahead an assertion ends; maxJTI its jti, in bytes.
	maxAssertion = 5 * time.Minute
	maxJTI       = 256
)

// KeySet holds the public keys of an application that proves itself by assertions (RFC 7523).
type KeySet struct{ keys []clientKey }

type clientKey struct {
	id     string
	public any
	algs   []string
}

// Has reports whether a key has an id.
func (s KeySet) Has(kid string) bool {
	return slices.ContainsFunc(s.keys, func(k clientKey) bool { return k.id == kid })
}

// ReadKeySet reads a JSON Web Key Set. Keys that sign nothing here are left out, as RFC 7517 5 wants
// it. It fails if none is left.
func ReadKeySet(document []byte) (KeySet, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return KeySet{}, errors.New("token: the key set is no JSON Web Key Set")
	}
	var s KeySet
	for _, raw := range set.Keys[:min(len(set.Keys), maxPublished)] {
		if k, ok := readClientKey(raw); ok {
			s.keys = append(s.keys, k)
		}
	}
	if len(s.keys) == 0 {
		return KeySet{}, errors.New("token: the key set has no key for RS256, PS256, ES256 or EdDSA")
	}
	return s, nil
}

func readClientKey(raw []byte) (clientKey, bool) {
	var k jose.JSONWebKey
	if err := k.UnmarshalJSON(raw); err != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
		return clientKey{}, false
	}
	alg, _, err := describe(k.Key)
	if err != nil {
		return clientKey{}, false
	}
	algs := []string{alg}
	if alg == RS256 {
		algs = append(algs, ps256)
	}
	if k.Algorithm != "" {
		algs = slices.DeleteFunc(algs, func(alg string) bool { return alg != k.Algorithm })
	}
	return clientKey{id: k.KeyID, public: k.Key, algs: algs}, len(algs) > 0
}

// Assertion identifies a proof that a client has given. It is good once: by its ID, until End.
type Assertion struct {
	ID  string // jti
	End time.Time
}

// Check checks an assertion of a client (RFC 7523 3), which must be meant for one of the audiences and for nobody
// else: another audience could send it here.
// The error is ErrInvalid, and ErrUnknownKey if its key may have been published since.
func (s KeySet) Check(assertion, clientID string, audiences []string, now time.Time) (Assertion, error) {
	o, err := s.open(assertion, "", "jwt", "client-authentication+jwt")
	if err != nil {
		return Assertion{}, err
	}
	c := reader{object: o}
	g, err := Grant{ID: c.name("jti")}.checked(&c, clientID, audiences, now.Add(maxAssertion), now)
	if err == nil && g.Subject != clientID {
		err = invalid("sub is not the client_id")
	}
	if err != nil {
		return Assertion{}, err
	}
	return Assertion{ID: g.ID, End: g.End}, nil
}

// open returns the claims of an assertion whose header has one of the types, in any case; "" is none. It verifies the
// signature by the key that the header names, or by whichever fits if it names none.
func (s KeySet) open(assertion string, types ...string) (object, error) {
	if len(assertion) > maxToken {
		return nil, invalid("longer than 8 KiB")
	}
	head, err := split(assertion)
	if err != nil {
		return nil, err
	}
	h, err := parseObject(head)
	if err != nil {
		return nil, invalid("header: " + err.Error())
	}
	typ := ""
	if _, there := h["typ"]; there {
		if typ, err = h.text("typ"); err != nil {
			return nil, invalid("typ is not a string")
		}
	}
	if typ = strings.ToLower(typ); !slices.Contains(types, strings.TrimPrefix(typ, "application/")) {
		return nil, invalid("typ is not " + types[len(types)-1])
	}
	payload, err := s.verify(assertion, h)
	if err != nil {
		return nil, err
	}
	o, err := parseObject(payload)
	if err != nil {
		return nil, invalid("claims: " + err.Error())
	}
	return o, nil
}

func (s KeySet) verify(assertion string, h object) (payload []byte, err error) {
	alg, err := h.text("alg")
	if err != nil {
		return nil, invalid("alg is missing")
	}
	for name := range h {
		if !slices.Contains([]string{"alg", "kid", "typ", "cty"}, name) && !strings.HasPrefix(name, "x5t") {
			return nil, invalid("a parameter of its header is not known here")
		}
	}
	kid := ""
	if _, there := h["kid"]; there {
		if kid, err = h.text("kid"); err != nil {
			return nil, invalid("kid is not a string")
		}
	}
	found := false
	for _, k := range s.keys {
		if kid != "" && k.id != kid || !slices.Contains(k.algs, alg) {
			continue
		}
		found = true
		if payload, err = verified(assertion, alg, k.public); err == nil {
			return payload, nil
		}
	}
	if !found || kid == "" {
		return nil, ErrUnknownKey
	}
	return nil, invalid("wrong signature")
}

// moment reads a time that may have a fraction (RFC 7519 2), as some libraries write it.
func (r *reader) moment(name string) time.Time {
	seconds, err := strconv.ParseFloat(string(r.object[name]), 64)
	if err != nil || !(seconds >= 0 && seconds <= lastSecond) {
		r.complain(name, "a time in seconds")
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
