package kept

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"io"

	"github.com/keystile/keystile/storage"
)

// form holds what is kept.
type form struct {
	Session string // it was shown in
	Type    string // the Content-Type of the body
	Body    []byte `json:"-"`
}

// place names what a form belongs to.
type place struct{ ID, Sub, Path string }

// maxPlain bounds a form before it is compressed: the largest of the console has a document of 16 MiB.
const maxPlain = 17 << 20

// maxSealed bounds what is stored of a form: as the text of a document it fits into the 4 MiB that one has.
const maxSealed = 2800 << 10

// seal compresses and seals a form. Neither the key of the store nor the secret of the browser opens it alone.
func seal(f form, at place, key storage.Secret, secret string) ([]byte, error) {
	head, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	z := gzip.NewWriter(&plain)
	for _, part := range [][]byte{head, []byte("\n"), f.Body} {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if len(f.Body) > maxPlain || plain.Len() > maxSealed {
		return nil, errNotKept
	}
	box, data, err := boxOf(at, key, secret)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+plain.Len()+box.Overhead())
	rand.Read(nonce)
	return box.Seal(nonce, nonce, plain.Bytes(), data), nil
}

// open is the reverse of seal. Its error says no more than that this is not the place, the key and the secret.
func open(sealed []byte, at place, key storage.Secret, secret string) (f form, err error) {
	box, data, err := boxOf(at, key, secret)
	if err != nil {
		return f, err
	}
	if len(sealed) < box.NonceSize() {
		return f, errGone
	}
	plain, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], data)
	if err != nil {
		return f, errGone
	}
	z, err := gzip.NewReader(bytes.NewReader(plain))
	if err != nil {
		return f, err
	}
	all, err := io.ReadAll(io.LimitReader(z, maxPlain+4096))
	if err != nil {
		return f, err
	}
	head, body, _ := bytes.Cut(all, []byte("\n"))
	err = json.Unmarshal(head, &f)
	f.Body = body
	return f, err
}

func boxOf(at place, key storage.Secret, secret string) (box cipher.AEAD, data []byte, err error) {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(secret))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, nil, err
	}
	if data, err = json.Marshal(at); err != nil {
		return nil, nil, err
	}
	box, err = cipher.NewGCM(block)
	return box, data, err
}
