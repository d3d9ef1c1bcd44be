package search

import (
	"encoding/binary"
	"errors"
	"math"
)

// errDamaged: a document of the index is not one that this version has written.
var errDamaged = errors.New("audit: the index of the trail is damaged; have it made anew with keystile audit reindex")

// recordRange is a range of records and of the times that they have, in seconds: until counts as in it.
type recordRange struct {
	first, last uint64
	from, until int64
}

func (s recordRange) plus(t recordRange) recordRange {
	return recordRange{min(s.first, t.first), max(s.last, t.last), min(s.from, t.from), max(s.until, t.until)}
}

// around returns the stretch of some that follow each other.
func around(all []recordRange) recordRange {
	whole := all[0]
	for _, s := range all[1:] {
		whole = whole.plus(s)
	}
	return whole
}

// appendRanges writes stretches that ascend.
func appendRanges(b []byte, all []recordRange) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	var before recordRange
	for _, s := range all {
		b = binary.AppendUvarint(b, s.first-before.last)
		b = binary.AppendUvarint(b, s.last-s.first)
		b = binary.AppendVarint(b, s.from-before.from)
		b = binary.AppendUvarint(b, uint64(s.until-s.from))
		before = s
	}
	return b
}

// reader reads what the append functions wrote. After an error it reads zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) ranges() []recordRange {
	n := r.uint()
	if n > uint64(len(r.rest)) { // each takes several bytes
		r.bad = true
		return nil
	}
	all := make([]recordRange, 0, n)
	var before recordRange
	for range n {
		s := recordRange{first: before.last + r.uint()}
		s.last = s.first + r.uint()
		s.from = before.from + r.int()
		s.until = s.from + int64(r.uint())
		all, before = append(all, s), s
	}
	return all
}

// posting says that a term is in a record: the term in the high half, in the low one how many Seqs the
// record lies behind the first of the block.
type posting uint64

func post(term uint32, offset uint64) posting { return posting(uint64(term)<<32 | offset) }

func (p posting) term() uint32   { return uint32(p >> 32) }
func (p posting) offset() uint64 { return uint64(p) & math.MaxUint32 }

// appendPostings writes sorted postings of records within so many Seqs. For each term there is its
// distance to the one before, then how many records have it, then these, as distances or as a bitmap,
// whatever is shorter: what every record has takes a bit of each.
func appendPostings(b []byte, all []posting, width uint64) []byte {
	bitmap := (width + 7) / 8
	last := uint32(0)
	for len(all) > 0 {
		term := all[0].term()
		n := 1
		for n < len(all) && all[n].term() == term {
			n++
		}
		dense := uint64(n) > bitmap
		kind := uint64(n) << 1
		if dense {
			kind |= 1
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(term-last)), kind)
		if dense {
			bits := make([]byte, bitmap)
			for _, p := range all[:n] {
				bits[p.offset()/8] |= 1 << (p.offset() % 8)
			}
			b = append(b, bits...)
		} else {
			before := uint64(0)
			for _, p := range all[:n] {
				b = binary.AppendUvarint(b, p.offset()-before)
				before = p.offset()
			}
		}
		all, last = all[n:], term
	}
	return b
}

// varints returns the bytes of some numbers.
func (r *reader) varints(n uint64) []byte {
	for i, b := range r.rest {
		if n == 0 {
			return r.bytes(uint64(i))
		}
		if b < 0x80 {
			n--
		}
	}
	if n > 0 {
		r.bad = true
	}
	return r.bytes(uint64(len(r.rest)))
}

// list holds the records that have a term, as distances or as a bitmap.
type list struct {
	dense bool
	data  []byte
}

// lists calls yield for each of the terms that are wanted, nil: for all. It ends behind the last of them,
// as terms ascend.
func (r *reader) lists(width uint64, wanted []uint32, yield func(uint32, list)) {
	term, all := uint32(0), wanted == nil
	for len(r.rest) > 0 && !r.bad {
		term += uint32(r.uint())
		kind := r.uint()
		for len(wanted) > 0 && wanted[0] < term {
			wanted = wanted[1:]
		}
		if !all && len(wanted) == 0 {
			return
		}
		l := list{dense: kind&1 == 1}
		if l.dense {
			l.data = r.bytes((width + 7) / 8)
		} else {
			l.data = r.varints(kind >> 1)
		}
		if !r.bad && (all || wanted[0] == term) {
			yield(term, l)
		}
	}
}

// each calls yield for each record, by its offset, ascending.
func (l list) each(yield func(offset uint64)) {
	if l.dense {
		for i, bits := range l.data {
			for ; bits != 0; bits &= bits - 1 {
				yield(uint64(8*i) + uint64(trailing(bits)))
			}
		}
		return
	}
	r, at := reader{rest: l.data}, uint64(0)
	for len(r.rest) > 0 {
		at += r.uint()
		yield(at)
	}
}

// among calls yield for those of some ascending Seqs that are in the list of a block that begins with first.
func (l list) among(first uint64, seqs []uint64, yield func(seq uint64)) {
	if l.dense {
		for _, seq := range seqs {
			if at := seq - first; at/8 < uint64(len(l.data)) && l.data[at/8]&(1<<(at%8)) != 0 {
				yield(seq)
			}
		}
		return
	}
	l.each(func(offset uint64) {
		for len(seqs) > 0 && seqs[0] < first+offset {
			seqs = seqs[1:]
		}
		if len(seqs) > 0 && seqs[0] == first+offset {
			yield(seqs[0])
		}
	})
}
