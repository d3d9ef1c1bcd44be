package service

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// hmacKey is a key that is drawn at its first use, and stays.
type hmacKey struct {
	Name      string        `json:"name"`
	Key       secret.Secret `json:"-"`
	CreatedAt time.Time     `json:"created_at"`
	Version   int64         `json:"-"`
	carried
}

var hmacKeys = document.Kind[hmacKey]{
	Name:    "hmac",
	ID:      func(k hmacKey) string { return k.Name },
	Index:   func(hmacKey) []string { return []string{"all"} },
	Version: func(k *hmacKey) *int64 { return &k.Version },
	Secrets: func(k *hmacKey) map[string]*secret.Secret { return map[string]*secret.Secret{"key": &k.Key} },
}

// HMACKey returns the key of a name: 256 random bits that every process over one store
// shares, sealed there. The name tells its purpose.
func (s *Store) HMACKey(ctx context.Context, name string) (secret.Secret, error) {
	k, err := document.Get(ctx, s.docs, hmacKeys, name)
	if errors.Is(err, document.ErrNotFound) {
		k, err = document.Put(ctx, s.docs, hmacKeys, hmacKey{Name: name, Key: secret.Draw(), CreatedAt: time.Now().UTC()})
		if errors.Is(err, document.ErrExists) { // another process was first
			k, err = document.Get(ctx, s.docs, hmacKeys, name)
		}
	}
	return k.Key, err
}
