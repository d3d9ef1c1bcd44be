package mcpbus

import mathbits "math/bits"

// bits is a set of tools of a snapshot, by index.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// set adds the tools from lo to hi, exclusive.
func (b bits) set(lo, hi int) {
	b.words(lo, hi, func(word *uint64, mask uint64) { *word |= mask })
}

// clear removes the tools from lo to hi, exclusive.
func (b bits) clear(lo, hi int) {
	b.words(lo, hi, func(word *uint64, mask uint64) { *word &^= mask })
}

func (b bits) words(lo, hi int, do func(word *uint64, mask uint64)) {
	for lo < hi {
		end := min(hi, lo-lo%64+64)
		do(&b[lo/64], (^uint64(0)>>(64-(end-lo)))<<(lo%64))
		lo = end
	}
}

// and keeps only the tools that are in both sets.
func (b bits) and(other bits) {
	for i := range b {
		b[i] &= other[i]
	}
}

// or adds the tools of another set.
func (b bits) or(other bits) {
	for i := range b {
		b[i] |= other[i]
	}
}

func (b bits) count() (n int) {
	for _, word := range b {
		n += mathbits.OnesCount64(word)
	}
	return n
}

// common returns how many tools are in both sets.
func (b bits) common(other bits) (n int) {
	for i, word := range b {
		n += mathbits.OnesCount64(word & other[i])
	}
	return n
}

// next returns the first tool of the set from i on, -1 if there is none.
func (b bits) next(i int) int {
	for w := i / 64; w < len(b); w++ {
		word := b[w]
		if w == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return w*64 + mathbits.TrailingZeros64(word)
		}
	}
	return -1
}
