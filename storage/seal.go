package storage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// MasterKey seals the secrets that must be read back (appkeys, signing keys): 32 bytes
// for AES-256-GCM. The zero value is no key.
type MasterKey struct{ secret Secret }

// NewMasterKey draws a master key.
func NewMasterKey() MasterKey { return MasterKey{DrawSecret()} }

// ParseMasterKey reads a key as Text writes it: 32 bytes in base64 or base64url, padded or not.
func ParseMasterKey(text string) (MasterKey, error) {
	plain := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimSpace(text)), "=")
	raw, err := base64.RawURLEncoding.DecodeString(plain)
	if err != nil || len(raw) != 32 {
		return MasterKey{}, errors.New("a master key is 32 bytes in base64 (44 characters); make one with: openssl rand -base64 32")
	}
	return MasterKey{NewSecret(base64.RawURLEncoding.EncodeToString(raw))}, nil
}

// Text returns the key as a line for a file only its owner can read.
func (k MasterKey) Text() string { return k.secret.Reveal() }

// ID returns the name of the key in messages and in what it has sealed: 16 hex digits, ""
// for the zero value. It is cut from a hash of 32 random bytes, so it reveals nothing of
// the key.
func (k MasterKey) ID() string {
	raw, err := k.raw()
	if err != nil {
		return ""
	}
	id := keyID(raw)
	return hex.EncodeToString(id[:])
}

func (k MasterKey) raw() ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(k.Text())
	if err != nil || len(raw) != 32 {
		return nil, errors.New("storage: an empty master key; make one with NewMasterKey, or read one with ParseMasterKey")
	}
	return raw, nil
}

func keyID(raw []byte) [8]byte {
	sum := sha256.Sum256(append([]byte("keystile key id\x00"), raw...))
	return [8]byte(sum[:8])
}

// sealer seals with its first key and opens with any of them.
//
// A sealed text is: 1 byte format, 8 bytes key id, 12 bytes nonce, ciphertext and tag.
// The associated data binds it to its place (kind, document id, field) and to its key,
// so that a sealed text moved to another record does not open there.
type sealer struct{ keys []sealingKey }

type sealingKey struct {
	id   [8]byte
	aead cipher.AEAD
}

const (
	sealFormat = 1
	sealHead   = 1 + 8
)

func newSealer(keys []MasterKey) (*sealer, error) {
	s := &sealer{}
	for _, k := range keys {
		raw, err := k.raw()
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealingKey{id: keyID(raw), aead: aead})
	}
	if len(s.keys) == 0 {
		return nil, errors.New("storage: no master key; secrets cannot be sealed without one")
	}
	return s, nil
}

func (s *sealer) seal(plain, place string) []byte {
	key := s.keys[0]
	out := append([]byte{sealFormat}, key.id[:]...)
	nonce := make([]byte, key.aead.NonceSize())
	rand.Read(nonce)
	out = append(out, nonce...)
	return key.aead.Seal(out, nonce, []byte(plain), associated(out[:sealHead], place))
}

func (s *sealer) open(sealed []byte, place string) (string, error) {
	for _, key := range s.keys {
		size := key.aead.NonceSize()
		if len(sealed) < sealHead+size || sealed[0] != sealFormat || [8]byte(sealed[1:sealHead]) != key.id {
			continue
		}
		nonce, text := sealed[sealHead:sealHead+size], sealed[sealHead+size:]
		plain, err := key.aead.Open(nil, nonce, text, associated(sealed[:sealHead], place))
		if err != nil {
			return "", fmt.Errorf("sealed text of %q does not open: it was changed, or belongs elsewhere", place)
		}
		return string(plain), nil
	}
	return "", fmt.Errorf("no master key at hand opens %q: it is sealed with key %s, at hand: %s", place, sealedBy(sealed), s.ids())
}

// current reports whether a text is sealed with the present key.
func (s *sealer) current(sealed []byte) bool { return sealedBy(sealed) == s.keys[0].name() }

// has reports whether the sealer has the key with this id.
func (s *sealer) has(id string) bool {
	return slices.ContainsFunc(s.keys, func(k sealingKey) bool { return k.name() == id })
}

func (s *sealer) ids() string {
	var ids []string
	for _, k := range s.keys {
		if !slices.Contains(ids, k.name()) {
			ids = append(ids, k.name())
		}
	}
	return strings.Join(ids, ", ")
}

func (k sealingKey) name() string { return hex.EncodeToString(k.id[:]) }

// sealedBy returns the id of the key that a text is sealed with, "" if it is no such text.
func sealedBy(sealed []byte) string {
	if len(sealed) < sealHead || sealed[0] != sealFormat {
		return ""
	}
	return hex.EncodeToString(sealed[1:sealHead])
}

func associated(head []byte, place string) []byte { return append(append([]byte{}, head...), place...) }

// place returns the name of the place of a sealed text. The parts hold no 0x1F (CheckPut).
func place(kind, id, field string) string {
	return kind + driver.Separator + id + driver.Separator + field
}
