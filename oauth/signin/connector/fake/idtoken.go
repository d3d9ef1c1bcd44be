package fake

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"sync"
	"time"
)

// keyring holds the keys that sign id_tokens. They are drawn when they are needed.
type keyring struct {
	mu  sync.Mutex
	now *signingKeys
}

type signingKeys struct {
	kid string
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

func (k *keyring) current() (*signingKeys, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now != nil {
		return k.now, nil
	}
	drawn := &signingKeys{kid: rand.Text()[:8]}
	var err error
	if drawn.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	if drawn.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if _, drawn.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return nil, err
	}
	k.now = drawn
	return drawn, nil
}

// RotateKeys makes the issuer of OpenID Connect sign with new keys, and forget the old ones.
func (f *Fake) RotateKeys() {
	f.keys.mu.Lock()
	defer f.keys.mu.Unlock()
	f.keys.now = nil
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// public returns the keys as a JWK Set has them.
func (s *signingKeys) public() []object {
	point, _ := s.ec.PublicKey.Bytes() // 4, x, y
	return []object{
		{"kty": "RSA", "use": "sig", "kid": s.kid + "-RS256", "n": b64(s.rsa.N.Bytes()), "e": "AQAB"},
		{"kty": "RSA", "use": "sig", "kid": s.kid + "-PS256", "alg": "PS256", "n": b64(s.rsa.N.Bytes()), "e": "AQAB"},
		{"kty": "EC", "use": "sig", "kid": s.kid + "-ES256", "alg": "ES256", "crv": "P-256", "x": b64(point[1:33]),
			"y": b64(point[33:])},
		{"kty": "OKP", "use": "sig", "kid": s.kid + "-EdDSA", "alg": "EdDSA", "crv": "Ed25519",
			"x": b64(s.ed.Public().(ed25519.PublicKey))},
	}
}

// sign signs by an algorithm; by HS256 with the public key for a secret, and by none not at all.
func (s *signingKeys) sign(alg string, input []byte) (out []byte, err error) {
	sum := sha256.Sum256(input)
	switch alg {
	case "RS256":
		return rsa.SignPKCS1v15(rand.Reader, s.rsa, crypto.SHA256, sum[:])
	case "PS256":
		return rsa.SignPSS(rand.Reader, s.rsa, crypto.SHA256, sum[:],
			&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	case "ES256":
		r, t, err := ecdsa.Sign(rand.Reader, s.ec, sum[:])
		if err != nil {
			return nil, err
		}
		out = make([]byte, 64)
		r.FillBytes(out[:32])
		t.FillBytes(out[32:])
		return out, nil
	case "EdDSA":
		return ed25519.Sign(s.ed, input), nil
	case "HS256":
		key, err := x509.MarshalPKIXPublicKey(&s.rsa.PublicKey)
		h := hmac.New(sha256.New, key)
		h.Write(input)
		return h.Sum(nil), err
	}
	return nil, nil
}

// idToken returns the id_token of a grant, with the fault that was asked for.
func (f *Fake) idToken(g grant, access string) (string, error) {
	keys, err := f.keys.current()
	if err != nil {
		return "", err
	}
	now, hash := time.Now(), sha256.Sum256([]byte(access))
	claims := object{
		"iss": f.openIDIssuer(), "sub": g.openID(), "aud": oidcID, "exp": now.Add(lifetime).Unix(), "iat": now.Unix(),
		"auth_time": now.Unix(), "nonce": g.nonce, "azp": oidcID, "at_hash": b64(hash[:16]),
	}
	if g.user.Key != "omar" { // whose claims are at userinfo alone
		maps.Copy(claims, f.claimsOf(g))
	}
	head := object{"typ": "JWT", "alg": "RS256"}
	if g.fault == "EdDSA" {
		delete(claims, "at_hash")
	}
	switch g.fault {
	case "PS256", "ES256", "EdDSA", "HS256", "none":
		head["alg"] = g.fault
	}
	head["kid"] = keys.kid + "-" + head["alg"].(string)
	if g.fault == "HS256" || g.fault == "none" || g.fault == "wrong-key" {
		head["kid"] = keys.kid + "-RS256"
	}
	faults[g.fault].apply(head, claims)
	if g.fault == "no-azp-of-two" {
		delete(claims, "azp")
	}
	return f.assemble(keys, head, claims, g.fault)
}

func (f *Fake) assemble(keys *signingKeys, head, claims object, fault string) (string, error) {
	if fault == "no-id-token" {
		return "", nil
	}
	first, err := json.Marshal(head)
	if err != nil {
		return "", err
	}
	second, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	input := b64(first) + "." + b64(second)
	if fault == "wrong-key" {
		if keys, err = new(keyring).current(); err != nil {
			return "", err
		}
	}
	signature, err := keys.sign(head["alg"].(string), []byte(input))
	return input + "." + b64(signature), err
}

// fault is something that is wrong with an id_token. Faults that are no change of a claim are where
// they happen.
type fault struct {
	claim string
	value any // nil: it is missing
}

var faults = map[string]fault{
	"wrong-nonce":    {"nonce", "that-of-another-visit"},
	"no-nonce":       {"nonce", nil},
	"wrong-audience": {"aud", "another-application"},
	"wrong-azp":      {"azp", "another-application"},
	"no-azp":         {"azp", nil},
	"wrong-issuer":   {"iss", "https://another.example"},
	"expired":        {"exp", -time.Minute},
	"no-exp":         {"exp", nil},
	"future":         {"iat", time.Hour},
	"no-iat":         {"iat", nil},
	"not-yet":        {"nbf", time.Hour},
	"no-sub":         {"sub", nil},
	"strange-sub":    {"sub", "a\nb"},
	"old-session":    {"auth_time", -time.Hour},
	"future-session": {"auth_time", time.Hour},
	"no-auth-time":   {"auth_time", nil},
	"blank-sub":      {"sub", "auth0|Ada Lovelace"},
	"wrong-at-hash":  {"at_hash", "AAAAAAAAAAAAAAAAAAAAAA"},
	"no-azp-of-two":  {"aud", []string{oidcID, "another-application"}},
	"two-audiences":  {"aud", []string{oidcID, "another-application"}},
	"unknown-kid":    {"kid", "nobody-knows-it"},
}

func (x fault) apply(head, claims object) {
	switch value := x.value.(type) {
	case nil:
		delete(claims, x.claim)
	case time.Duration:
		claims[x.claim] = time.Now().Add(value).Unix()
	default:
		if x.claim == "kid" {
			head["kid"] = value
		} else {
			claims[x.claim] = value
		}
	}
}
