package search

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/keystile/keystile/storage/event"
)

// The fields that are indexed, by the letter that stands in a hash for them.
const (
	byRequest = 'r'
	byUser    = 'u'
	byAddress = 'i'
	byApp     = 'a'
	byActor   = 'd' // acts by delegation
	byStatus  = 's'
	byKind    = 'k'

	fields = 6
)

// apps is the number of parts that only applications have, the first ones: whoever asks for a hundred of
// them reads these few.
const appParts = 16

// hasher makes terms of fields and their values. It keeps the last ones, as most records have few
// different, but for request ids, of which each has its own.
type hasher struct {
	key   [16]byte
	known map[string]uint32
	text  []byte
}

const maxKnown = 10_000

// hasher returns the one of the index's key.
func (x *Indexer) hasher(key [16]byte) *hasher {
	if x.hash == nil || x.hash.key != key {
		x.hash = newHasher(key)
	}
	return x.hash
}

func newHasher(key [16]byte) *hasher { return &hasher{key: key, known: map[string]uint32{}} }

func (h *hasher) term(field byte, value string) uint32 {
	h.text = append(append(append(h.text[:0], h.key[:]...), field), value...)
	if field == byRequest {
		return h.hash(field)
	}
	if t, ok := h.known[string(h.text)]; ok {
		return t
	}
	if len(h.known) >= maxKnown {
		clear(h.known)
	}
	t := h.hash(field)
	h.known[string(h.text)] = t
	return t
}

// hash makes the term of the text.
func (h *hasher) hash(field byte) uint32 {
	sum := sha256.Sum256(h.text)
	wide := binary.BigEndian.Uint64(sum[:])
	const apps = appParts << 24
	if field == byApp {
		return uint32(wide % apps)
	}
	return uint32(apps + wide%(1<<32-apps))
}

// terms appends the terms of an event. An actor that is its application, as most are, has the term of that alone.
func (h *hasher) terms(all []uint32, e *event.Event) []uint32 {
	for _, f := range [fields]struct {
		field byte
		value string
	}{{byRequest, e.RequestID}, {byUser, e.User}, {byAddress, e.IP}, {byApp, e.App}, {byStatus, class(e.Status)},
		{byKind, e.Kind}} {
		if f.value != "" {
			all = append(all, h.term(f.field, f.value))
		}
	}
	for _, actor := range e.Actors {
		if actor != e.App {
			all = append(all, h.term(byActor, actor))
		}
	}
	return all
}

// class is the class of a status, "" if it has none.
func class(status int) string {
	if status < 100 || status > 599 {
		return ""
	}
	return string(rune('0'+status/100)) + "xx"
}
