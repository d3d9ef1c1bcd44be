// Package sealbox seals what is kept in the store for one person for a while, such as a form that waits for a sign-in.
package sealbox

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"

	"github.com/keystile/keystile/storage"
)

// ErrOther says no more than that this is not the place, the key and the secret that something was sealed with.
var ErrOther = errors.New("sealbox: it was sealed elsewhere or otherwise")

// Box seals with AES-256-GCM under a key that is made of two halves.
type Box struct {
	aead  cipher.AEAD
	place []byte
}

// New returns the Box of a key, which the store has, a secret, which it does not have, and a place: a value whose JSON
// names what the content belongs to. A content that was sealed at another place is not opened.
func New(key storage.Secret, secret string, place any) (Box, error) {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(secret))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return Box{}, err
	}
	name, err := json.Marshal(place)
	if err != nil {
		return Box{}, err
	}
	aead, err := cipher.NewGCM(block)
	return Box{aead, name}, err
}

// Seal encrypts. The result is 28 bytes longer.
func (b Box) Seal(plain []byte) []byte {
	nonce := make([]byte, b.aead.NonceSize(), b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	rand.Read(nonce)
	return b.aead.Seal(nonce, nonce, plain, b.place)
}

// Open is the reverse of Seal, or ErrOther.
func (b Box) Open(sealed []byte) ([]byte, error) {
	if len(sealed) < b.aead.NonceSize() {
		return nil, ErrOther
	}
	plain, err := b.aead.Open(nil, sealed[:b.aead.NonceSize()], sealed[b.aead.NonceSize():], b.place)
	if err != nil {
		return nil, ErrOther
	}
	return plain, nil
}

// Pack compresses the parts, one after the other.
func Pack(parts ...[]byte) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return packed.Bytes(), err
}

// Unpack is the reverse of Pack, for at most so many bytes.
func Unpack(packed []byte, most int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, int64(most)))
}
