package repeat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
)

// Call says which call an attempt is of. Two attempts are of the same one if all of it is equal.
type Call struct {
	Account, User string // the account that is charged, and the user who called
	Product, Tool string // Tool: "" if there is none
	Key           string // ParseKey

	Method, Path, Query string            // as they came
	Headers             [sha256.Size]byte // HashHeaders; zero: there are none that a service sees
	Body                [sha256.Size]byte // the hash of its content; zero: not known, or there is none
}

// id returns what the store finds the call by. Each text is led by its length, so that no two calls
// are written alike.
func (c *Call) id() string {
	h := sha256.New()
	for _, text := range [...]string{c.Account, c.User, c.Product, c.Tool, c.Key, c.Method, c.Path, c.Query} {
		add(h, text)
	}
	h.Write(c.Headers[:])
	h.Write(c.Body[:])
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func add(h hash.Hash, text string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(text)))
	h.Write(size[:])
	h.Write([]byte(text))
}
