// Package charset reads texts of other charsets as UTF-8.
//
// A charset is found by the names of the web (WHATWG Encoding, where iso-8859-1 and us-ascii
// are names of windows-1252), else by those of IANA. UTF-7 and what is called replacement
// there are not known.
package charset

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ErrTooLong says that a text has more bytes as UTF-8 than there may be.
var ErrTooLong = errors.New("charset: the text is too long as UTF-8")

// Charset is an encoding of text. The zero value is an unknown one.
type Charset struct{ enc encoding.Encoding }

// Charsets that matter by themselves.
var (
	UTF8        = Charset{unicode.UTF8}
	Windows1252 = Charset{charmap.Windows1252}
)

// Named returns the charset of a name, in any case; the zero value if none is known by it.
func Named(name string) Charset {
	if name == "" {
		return Charset{}
	}
	if enc, err := htmlindex.Get(name); err == nil && enc != encoding.Replacement {
		return Charset{enc}
	}
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == encoding.Replacement {
		return Charset{}
	}
	return Charset{enc}
}

// Marked returns the charset that a byte order mark at the beginning of a text names, and how
// many bytes the mark has; the zero value and 0 without one.
func Marked(text []byte) (c Charset, mark int) {
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return UTF8, 3
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		return Charset{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, 2
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		return Charset{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, 2
	}
	return Charset{}, 0
}

// Decode returns a text as UTF-8 of at most so many bytes, or ErrTooLong. Invalid bytes become
// U+FFFD. An unknown Charset decodes as UTF-8 does.
func (c Charset) Decode(text []byte, most int64) ([]byte, error) {
	if c.enc == nil {
		c = UTF8
	}
	out := make([]byte, min(int64(len(text))*utf8.UTFMax, most)+utf8.UTFMax) // decoders stop short of what may not fit
	n, _, err := c.enc.NewDecoder().Transform(out, text, true)
	if errors.Is(err, transform.ErrShortDst) || int64(n) > most {
		return nil, ErrTooLong
	}
	return out[:n:n], err
}
