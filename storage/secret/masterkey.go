package secret

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// MasterKey seals the secrets that must be read back (appkeys, signing keys): 32 bytes
// for AES-256-GCM. The zero value is no key.
type MasterKey struct{ secret Secret }

// NewMasterKey draws a master key.
func NewMasterKey() MasterKey { return MasterKey{Draw()} }

// ParseMasterKey reads a key as Text writes it: 32 bytes in base64 or base64url, padded or not.
func ParseMasterKey(text string) (MasterKey, error) {
	plain := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimSpace(text)), "=")
	raw, err := base64.RawURLEncoding.DecodeString(plain)
	if err != nil || len(raw) != 32 {
		return MasterKey{}, errors.New("a master key is 32 bytes in base64 (44 characters); make one with: openssl rand " +
			"-base64 32")
	}
	return MasterKey{New(base64.RawURLEncoding.EncodeToString(raw))}, nil
}

// Text returns the key as a line for a file only its owner can read.
func (k MasterKey) Text() string { return k.secret.Reveal() }

// ID returns the name of the key in messages and in what it has sealed: 16 hex digits, ""
// for the zero value. It is cut from a hash of 32 random bytes, so it reveals nothing of
// the key.
func (k MasterKey) ID() string {
	raw, err := k.Bytes()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("keystile key id\x00"), raw...))
	return hex.EncodeToString(sum[:8])
}

// Bytes returns the 32 bytes that seal; it fails for the zero value.
func (k MasterKey) Bytes() ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(k.Text())
	if err != nil || len(raw) != 32 {
		return nil, errors.New("storage: an empty master key; make one with NewMasterKey, or read one with ParseMasterKey")
	}
	return raw, nil
}
