package sse

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"one", "data: a\n\n", []string{"a"}},
		{"no blank", "data:a\n\n", []string{"a"}},
		{"one blank of two", "data:  a\n\n", []string{" a"}},
		{"two lines", "data: a\ndata\ndata: b\n\n", []string{"a\n\nb"}},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []string{"a\nb", "c"}},
		{"CR LF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []string{"a\nb", "c"}},
		{"a byte order mark", "\ufeffdata: a\n\n", []string{"a"}},
		{"comments and other fields", ": c\nid: 7\nretry: 1\nx: y\ndata: a\n: c\n\n", []string{"a"}},
		{"a message by name", "event: message\ndata: a\n\n", []string{"a"}},
		{"another kind", "event: ping\ndata: a\n\ndata: b\n\n", []string{"b"}},
		{"a kind is for one event", "event: ping\n\ndata: b\n\n", []string{"b"}},
		{"no data", "data:\n\nid: 1\n\n\n\ndata: a\n\n", []string{"a"}},
		{"the end cuts it off", "data: a\n\ndata: b", []string{"a", "b"}},
		{"the end cuts another kind off", "event: ping\ndata: b", nil},
		{"nothing", "", nil},
		{"data in capitals", "Data: a\n\n", nil},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(c.stream),
			"bytewise": iotest.OneByteReader(strings.NewReader(c.stream))} {
			var got []string
			e := New(r, int64(len(c.stream)))
			data, err := e.Next()
			for ; err == nil; data, err = e.Next() {
				got = append(got, string(data))
			}
			if !errors.Is(err, io.EOF) || !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %q, %v, want %q", c.name, how, got, err, c.want)
			}
		}
	}
}

func TestStreamIsReadToItsLimit(t *testing.T) {
	for name, stream := range map[string]string{
		"a long line": "data: " + strings.Repeat("x", 1000) + "\n\n", "many lines": strings.Repeat("data: x\n", 200) + "\n",
		"many comments": strings.Repeat(": x\n", 300), "no end": strings.Repeat("x", 2000),
	} {
		if _, err := New(strings.NewReader(stream), 1000).Next(); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: Next() = %v, want ErrTooLong", name, err)
		}
	}
}

func TestBrokenStreamIsAnError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("data: a"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if data, err := New(broken, 1000).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Next() = %q, %v, want the error of the connection", data, err)
	}
}
