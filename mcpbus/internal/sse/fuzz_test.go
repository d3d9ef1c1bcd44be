package sse

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "data: a\rdata: b\r\n\r\nevent: ping\ndata: c\n\n", "\ufeffdata:a\n\n:c\n\ndata\n\n",
		"event: message\ndata: {\"id\":1}", "\r\n\r\r\n\n", "data: \x00\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		read := func(r io.Reader) (out [][]byte, size int) {
			for e := New(r, 1<<16); ; {
				data, err := e.Next()
				if err != nil {
					if len(stream) <= 1<<16 != errors.Is(err, io.EOF) {
						t.Fatalf("Next() = %v for %d bytes", err, len(stream))
					}
					return out, size
				}
				out, size = append(out, bytes.Clone(data)), size+len(data)
				if len(data) == 0 || bytes.ContainsRune(data, '\r') {
					t.Errorf("the event %q is empty or has an end of line in it", data)
				}
			}
		}
		whole, size := read(bytes.NewReader(stream))
		bytewise, _ := read(iotest.OneByteReader(bytes.NewReader(stream)))
		if len(stream) <= 1<<16 && !bytes.Equal(bytes.Join(whole, []byte{0xff}), bytes.Join(bytewise, []byte{0xff})) {
			t.Errorf("%q read at once is %q, byte by byte %q", stream, whole, bytewise)
		}
		if size > len(stream) {
			t.Errorf("%d bytes became %d", len(stream), size)
		}
	})
}
