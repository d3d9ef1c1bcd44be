package repeat

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBodyIsKnownWhenItWasReadToItsEnd(t *testing.T) {
	sums := map[[32]byte]string{}
	for _, text := range []string{"", "a", "b", strings.Repeat("a", 100_000)} {
		for _, length := range []int64{int64(len(text)), -1} {
			b := NewBody(io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), length)
			if _, whole := b.Sum(); whole != (length == 0) {
				t.Errorf("a body of %d bytes is known %t before it was read", len(text), whole)
			}
			io.Copy(io.Discard, b)
			sum, whole := b.Sum()
			if other, there := sums[sum]; !whole || there && other != text {
				t.Errorf("of a body of %d bytes: known %t, and as %.5q", len(text), whole, other)
			}
			sums[sum] = text
		}
	}
	if len(sums) != 4 {
		t.Errorf("%d hashes of 4 bodies", len(sums))
	}
	known := NewBody(io.NopCloser(strings.NewReader("abc")), 3)
	if io.ReadFull(known, make([]byte, 3)); known.ended != true {
		t.Error("a body whose length was read is not known: many readers stop there")
	}
	cut := NewBody(io.NopCloser(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(io.ErrUnexpectedEOF))), 3)
	if io.Copy(io.Discard, cut); cut.ended {
		t.Error("a body that broke off is known")
	}
}
