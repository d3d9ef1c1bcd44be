package kept

import (
	"bytes"
	"encoding/json"

	"github.com/keystile/keystile/internal/sealbox"
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
	packed, err := sealbox.Pack(head, []byte("\n"), f.Body)
	if err != nil {
		return nil, err
	}
	if len(f.Body) > maxPlain || len(packed) > maxSealed {
		return nil, errNotKept
	}
	box, err := sealbox.New(key, secret, at)
	if err != nil {
		return nil, err
	}
	return box.Seal(packed), nil
}

// open is the reverse of seal. Its error says no more than that this is not the place, the key and the secret.
func open(sealed []byte, at place, key storage.Secret, secret string) (f form, err error) {
	box, err := sealbox.New(key, secret, at)
	if err != nil {
		return f, err
	}
	packed, err := box.Open(sealed)
	if err != nil {
		return f, errGone
	}
	all, err := sealbox.Unpack(packed, maxPlain+4096)
	if err != nil {
		return f, err
	}
	head, body, _ := bytes.Cut(all, []byte("\n"))
	err = json.Unmarshal(head, &f)
	f.Body = body
	return f, err
}
