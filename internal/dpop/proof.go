package dpop

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cache"
)

const (
	maxProof = 8 << 10 // bytes
	maxJTI   = 256     // bytes

	// Bounds of iat. Clocks may be off by some minutes, because the nonce of a proof says how old it is.
	maxAge   = 5 * time.Minute
	maxAhead = time.Minute
)

// proof is one whose signature is good.
type proof struct {
	head
	jti, method, address, nonce string
	token                       string // ath; "": none
}

// reader reads proofs, and knows the headers that it has read.
type reader struct{ heads *cache.Texts[head] }

// rememberedHeads is the number of clients whose keys are remembered, 1 KB each.
const rememberedHeads = 4096

func newReader() reader { return reader{cache.NewTexts[head](rememberedHeads)} }

// read reads a proof, checks its signature, and whether it is of this time.
func (r reader) read(text string, now time.Time) (p proof, err error) {
	if len(text) > maxProof {
		return p, wrong("is longer than 8 KiB")
	}
	first, rest, _ := strings.Cut(text, ".")
	second, third, ok := strings.Cut(rest, ".")
	payload, err1 := segment(second)
	signature, err2 := segment(third)
	if !ok || err1 != nil || err2 != nil {
		return p, wrong("is not three segments of base64url")
	}
	var there bool
	if p.head, there = r.heads.Get(first); !there {
		raw, err := segment(first)
		if err != nil {
			return p, wrong("is not three segments of base64url")
		}
		if p.head, err = readHead(raw); err != nil {
			return p, err
		}
	}
	if !p.verifies(text[:len(first)+1+len(second)], signature) {
		return p, wrong("is not signed by the key in its header")
	}
	if !there {
		r.heads.Put(strings.Clone(first), p.head)
	}
	return p, p.readClaims(payload, now)
}

// segment decodes a segment in the one spelling that it has.
func segment(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") { // which decoders pass over
		return nil, base64.CorruptInputError(0)
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

func (p *proof) readClaims(payload []byte, now time.Time) error {
	o, err := readObject(payload)
	if err != nil {
		return wrong("has claims that are " + strings.TrimPrefix(err.Error(), "is "))
	}
	var ok [4]bool
	p.jti, ok[0] = o.text("jti")
	p.method, ok[1] = o.text("htm")
	p.address, ok[2] = o.text("htu")
	iat, timed := o.time("iat")
	if ok[3] = timed; ok != [4]bool{true, true, true, true} || p.jti == "" {
		return wrong("lacks one of jti, htm, htu and iat")
	}
	for name, to := range map[string]*string{"nonce": &p.nonce, "ath": &p.token} {
		if _, there := o[name]; there {
			if *to, timed = o.text(name); !timed {
				return wrong("has a " + name + " that is not a text")
			}
		}
	}
	switch {
	case len(p.jti) > maxJTI:
		return wrong("has a jti of more than 256 bytes")
	case iat.Before(now.Add(-maxAge)):
		return wrong("is too old by its iat: set the clock, and sign one for each request")
	case iat.After(now.Add(maxAhead)):
		return wrong("is of the future by its iat: set the clock")
	}
	for _, name := range []string{"exp", "nbf"} {
		if _, there := o[name]; !there {
			continue
		}
		at, ok := o.time(name)
		if !ok || name == "exp" && !now.Before(at) || name == "nbf" && at.After(now.Add(maxAhead)) {
			return wrong("is not of this time by its " + name)
		}
	}
	return nil
}

// TokenHash returns the ath of an access token (RFC 9449 4.2).
func TokenHash(access string) string {
	sum := sha256.Sum256([]byte(access))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
