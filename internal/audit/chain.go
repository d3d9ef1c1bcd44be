package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
)

type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// chain numbers and hashes the records of one writer. It belongs to one goroutine.
type chain struct {
	id   string
	n    uint64 // of the last record
	hash digest // of the last record
	sum  hash.Hash
}

// newChain begins a chain behind a record of another one, or behind the zero digest.
func newChain(behind digest) *chain {
	return &chain{id: strings.ToLower(rand.Text()), hash: behind, sum: sha256.New()}
}

// append writes the next record of the chain. The first of an Append names the hash it
// follows, so that the records of an Append can be checked without those before.
func (c *chain) append(b []byte, e *entry, first bool) []byte {
	c.n++
	e.Chain, e.N, e.Prev = c.id, c.n, ""
	if first {
		e.Prev = c.hash.String()
	}
	start := len(b)
	b = appendBody(b, e)
	c.sum.Reset() // as follow does, in the place of the hash before: each record would make garbage
	c.sum.Write(c.hash[:])
	c.sum.Write(b[start:])
	c.sum.Sum(c.hash[:0])
	b = append(b, hashOpen...)
	b = hex.AppendEncode(b, c.hash[:])
	return append(b, hashClose...)
}

// follow is the rule of the chain: SHA-256 over the hash before and the body.
func follow(sum hash.Hash, before digest, body []byte) (d digest) {
	sum.Reset()
	sum.Write(before[:])
	sum.Write(body)
	sum.Sum(d[:0])
	return d
}

// link returns the digest by which a chain that begins behind a record names it: the hash it claims, or
// the hash of the whole if it cannot be read.
func link(data []byte) digest {
	if _, claimed, ok := split(data); ok {
		return claimed
	}
	return sha256.Sum256(data)
}
