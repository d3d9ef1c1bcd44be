package token

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
)

// Published verifies access tokens by the keys that their issuer publishes, for processes without
// its store. It knows of no revocations.
type Published struct {
	issuer string
	keys   atomic.Pointer[jwks]
	cache  *cache.Texts[*passed]
}

// jwks is a key set as it was published, by kid.
type jwks map[string]publicKey

func (s jwks) find(kid string) (publicKey, bool) {
	k, ok := s[kid]
	return k, ok
}

// NewPublished makes a Published that knows no keys yet. It remembers so many good tokens; 0:
// 100,000.
func NewPublished(issuer string, cacheSize int) *Published {
	p := &Published{issuer: issuer, cache: newCache(cacheSize)}
	p.keys.Store(&jwks{})
	return p
}

// maxPublished bounds how many keys of a set are read.
const maxPublished = 100

// SetKeys replaces the keys by those of a JSON Web Key Set (RFC 7517). Keys that sign nothing here
// are left out, as RFC 7517 5 wants it, and of two with one kid the second. It fails, and the keys
// stay what they were, if none is left.
func (p *Published) SetKeys(document []byte) error {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return errors.New("token: the key set is no JSON Web Key Set")
	}
	keys := jwks{}
	for _, raw := range set.Keys[:min(len(set.Keys), maxPublished)] {
		k, ok := publishedKey(raw)
		if _, twice := keys[k.id]; ok && !twice {
			keys[k.id] = k
		}
	}
	if len(keys) == 0 {
		return errors.New("token: the key set has no key for ES256, EdDSA or RS256")
	}
	p.keys.Store(&keys)
	return nil
}

// publishedKey reads one key. Its kind says with which algorithm it is used: an HS256 key, or one
// that says another algorithm than that, is none.
func publishedKey(raw []byte) (publicKey, bool) {
	var k jose.JSONWebKey
	if err := k.UnmarshalJSON(raw); err != nil || !k.Valid() || !k.IsPublic() || k.KeyID == "" || k.Use != "" &&
		k.Use != "sig" {
		return publicKey{}, false
	}
	alg, _, err := describe(k.Key)
	if err != nil || k.Algorithm != "" && k.Algorithm != alg {
		return publicKey{}, false
	}
	return publicKey{k.KeyID, alg, k.Key}, true
}

// Verify returns whom a bearer token speaks for. The token must be meant for one of the audiences
// (see IsOneOf); without any, for the issuer. The error is ErrInvalid, and ErrUnknownKey if the
// issuer may have published its key since.
func (p *Published) Verify(bearer string, audiences ...string) (storage.Caller, error) {
	if len(bearer) > maxToken {
		return storage.Caller{}, invalid("longer than 8 KiB")
	}
	now, keys := time.Now(), *p.keys.Load()
	t, known := p.cache.Get(bearer)
	if !known {
		var err error
		if t, err = read(bearer, keys, p.issuer); err != nil {
			return storage.Caller{}, err
		}
	}
	audience, err := p.check(t, keys, now, audiences)
	if err != nil {
		return storage.Caller{}, err
	}
	if !known {
		p.cache.Put(bearer, t) // good ones only, as in Verifier
	}
	caller := t.caller
	caller.Audience = audience
	return caller, nil
}

// Open returns what a token of another typ than an access token claims, once its signature is verified: of its claims
// nothing is.
func (p *Published) Open(text, typ string) (payload []byte, err error) {
	if len(text) > maxToken {
		return nil, invalid("longer than 8 KiB")
	}
	payload, _, err = open(text, typ, *p.keys.Load())
	return payload, err
}

// check asks what can change while a token stays the same.
func (p *Published) check(t *passed, keys jwks, now time.Time, audiences []string) (audience string, err error) {
	if _, there := keys[t.kid]; !there {
		return "", ErrUnknownKey
	}
	switch {
	case !now.Before(t.caller.ExpiresAt):
		return "", errExpired
	case now.Before(t.notBefore):
		return "", errEarly
	}
	return t.meantFor(p.issuer, audiences)
}
