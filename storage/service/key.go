package service

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// States of a signing key: published before it is used, used, published until the last
// token it signed has expired.
const (
	KeyNext    = "next"
	KeyActive  = "active"
	KeyRetired = "retired"
)

// SigningKey is a key pair that signs tokens.
type SigningKey struct {
	ID        string        `json:"kid"` // RFC 7638 thumbprint
	Alg       string        `json:"alg"` // ES256, EdDSA or RS256
	State     string        `json:"state"`
	Private   secret.Secret `json:"-"` // PKCS #8 in base64
	CreatedAt time.Time     `json:"created_at"`
	RetiredAt time.Time     `json:"retired_at,omitzero"`
	ExpiresAt time.Time     `json:"expires_at,omitzero"` // retired keys: when it leaves the JWKS
	Version   int64         `json:"-"`
	carried
}

var signingKeys = document.Kind[SigningKey]{
	Name:    "key",
	ID:      func(k SigningKey) string { return k.ID },
	Index:   func(k SigningKey) []string { return []string{"all"} },
	Expires: SigningKey.end,
	Version: func(k *SigningKey) *int64 { return &k.Version },
	Secrets: func(k *SigningKey) map[string]*secret.Secret {
		return map[string]*secret.Secret{"private": &k.Private}
	},
}

// end returns when the key may be swept: only a retired one is.
func (k SigningKey) end() time.Time {
	if k.State != KeyRetired {
		return time.Time{}
	}
	return k.ExpiresAt
}

// keySet marks that an algorithm has its first keys, so that of two processes that start
// on an empty store only one makes them.
type keySet struct {
	Alg     string `json:"alg"`
	Version int64  `json:"-"`
	carried
}

var keySets = document.Kind[keySet]{
	Name:    "keyset",
	ID:      func(k keySet) string { return k.Alg },
	Version: func(k *keySet) *int64 { return &k.Version },
}

// SigningKeys returns all signing keys.
func (s *Store) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	return document.All(ctx, s.docs, signingKeys, driver.Is("all"))
}

// FirstKeys stores the first keys of an algorithm. If it has keys already, nothing is
// written and that is no error: read SigningKeys afterwards.
func (s *Store) FirstKeys(ctx context.Context, alg string, keys ...SigningKey) error {
	mark, err := keySets.Doc(s.docs, keySet{Alg: alg})
	if err != nil {
		return err
	}
	docs := []driver.Doc{mark}
	for _, k := range keys {
		d, err := signingKeys.Doc(s.docs, k)
		if err != nil {
			return err
		}
		docs = append(docs, d)
	}
	if _, err = document.Write(ctx, s.docs, docs...); errors.Is(err, document.ErrExists) {
		return nil
	}
	return err
}

// SaveKeys writes changed signing keys in one step, so that no reader sees two active
// keys or none.
func (s *Store) SaveKeys(ctx context.Context, keys ...SigningKey) error {
	docs := make([]driver.Doc, len(keys))
	for i, k := range keys {
		d, err := signingKeys.Doc(s.docs, k)
		if err != nil {
			return err
		}
		docs[i] = d
	}
	_, err := document.Write(ctx, s.docs, docs...)
	return err
}
