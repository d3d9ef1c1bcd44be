package applications

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// verified answers with the claims of an id_token, which is the bearer token of the request, after the checks of a
// client that has read the discovery document and the keys that it names: the signature by RS256, issuer, audience
// and expiry. The application is the query's client_id.
func (s *site) verified(w http.ResponseWriter, r *http.Request) {
	_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	claims, err := s.claims(text, r.URL.Query().Get("client_id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = w.Write(claims) // to a recorder
}

func (s *site) claims(text, clientID string) ([]byte, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is no JWT", text)
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return nil, err
		}
	}
	var header struct{ Alg, Kid string }
	if err := json.Unmarshal(raw[0], &header); err != nil || header.Alg != "RS256" {
		return nil, fmt.Errorf("the header is %s: want RS256", raw[0])
	}
	key, err := s.key(header.Kid)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], raw[2]); err != nil {
		return nil, err
	}
	var c struct {
		Iss, Aud string
		Exp      int64
	}
	err = json.Unmarshal(raw[1], &c)
	if err != nil || c.Iss != issuer || c.Aud != clientID || c.Exp <= time.Now().Unix() {
		return nil, fmt.Errorf("the claims are %s: %v", raw[1], err)
	}
	return raw[1], nil
}

// key returns a public RSA key of the service, found as clients find it.
func (s *site) key(kid string) (*rsa.PublicKey, error) {
	var discovery struct {
		Issuer string
		JWKS   string `json:"jwks_uri"`
	}
	if err := s.get(issuer+"/.well-known/openid-configuration", &discovery); err != nil || discovery.Issuer != issuer {
		return nil, fmt.Errorf("discovery: issuer %q: %v", discovery.Issuer, err)
	}
	var set struct {
		Keys []struct{ Kid, Kty, Alg, N, E string }
	}
	if err := s.get(discovery.JWKS, &set); err != nil {
		return nil, err
	}
	for _, k := range set.Keys {
		if k.Kid != kid || k.Kty != "RSA" || k.Alg != "RS256" {
			continue
		}
		n, err := base64.RawURLEncoding.DecodeString(k.N)
		if err != nil {
			return nil, err
		}
		e, err := base64.RawURLEncoding.DecodeString(k.E)
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, err
	}
	return nil, fmt.Errorf("no RSA key %q is published: %+v", kid, set.Keys)
}

// get reads a document of the service.
func (s *site) get(address string, to any) error {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
	return json.Unmarshal(w.Body.Bytes(), to)
}
