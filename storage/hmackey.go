package storage

import (
	"context"
	"errors"
	"time"
)

// hmacKey is a key that is drawn at its first use, and stays.
type hmacKey struct {
	Name      string    `json:"name"`
	Key       Secret    `json:"-"`
	CreatedAt time.Time `json:"created_at"`
	Version   int64     `json:"-"`
	carried
}

var hmacKeys = kind[hmacKey]{
	name:    "hmac",
	id:      func(k hmacKey) string { return k.Name },
	index:   func(hmacKey) []string { return []string{"all"} },
	version: func(k *hmacKey) *int64 { return &k.Version },
	secrets: func(k *hmacKey) map[string]*Secret { return map[string]*Secret{"key": &k.Key} },
}

// HMACKey returns the key of a name: 256 random bits that every process over one store
// shares, sealed there. The name tells its purpose.
func (s *Store) HMACKey(ctx context.Context, name string) (Secret, error) {
	k, err := hmacKeys.get(ctx, s, name)
	if errors.Is(err, ErrNotFound) {
		k, err = hmacKeys.put(ctx, s, hmacKey{Name: name, Key: DrawSecret(), CreatedAt: time.Now().UTC()})
		if errors.Is(err, ErrExists) { // another process was first
			k, err = hmacKeys.get(ctx, s, name)
		}
	}
	return k.Key, err
}
