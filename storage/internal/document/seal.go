package document

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/secret"
)

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

func newSealer(keys []secret.MasterKey) (*sealer, error) {
	s := &sealer{}
	for _, k := range keys {
		raw, err := k.Bytes()
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
		id, err := hex.DecodeString(k.ID())
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealingKey{id: [8]byte(id), aead: aead})
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
	return "", fmt.Errorf("no master key at hand opens %q: it is sealed with key %s, at hand: %s", place, sealedBy(sealed),
		s.ids())
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
