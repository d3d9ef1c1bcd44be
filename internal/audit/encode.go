package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// entry is a record as it is written: an event and its place in a chain.
type entry struct {
	Chain string `json:"chain"`
	N     uint64 `json:"n"`               // in its chain, from 1
	After uint64 `json:"after,omitempty"` // of the first: the last Seq its writer found in the store; 0: none
	Prev  string `json:"prev,omitempty"`  // of the first of each Append: the hash before it, in hex
	Event
	Lost uint64 `json:"lost,omitempty"` // of audit.lost: how many
}

// A record ends in its hash. Everything before is its body.
const (
	hashOpen  = `,"hash":"`
	hashClose = `"}`
	hashLen   = len(hashOpen) + 2*len(digest{}) + len(hashClose)
)

// appendBody writes an entry whose event is tidy, up to its hash.
func appendBody(b []byte, e *entry) []byte {
	b = appendText(append(b, `{"chain":`...), e.Chain)
	b = strconv.AppendUint(append(b, `,"n":`...), e.N, 10)
	b = appendNumber(b, "after", e.After)
	if e.Prev != "" {
		b = appendText(append(b, `,"prev":`...), e.Prev)
	}
	b = append(e.At.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano), '"')
	for i, text := range texts(&e.Event) {
		if *text != "" {
			b = append(append(append(b, `,"`...), fields[i].name...), `":`...)
			b = appendText(b, *text)
		}
	}
	b = appendActors(b, e.Actors)
	b = appendNumber(b, "status", uint64(e.Status))
	b = appendNumber(b, "latency_ns", uint64(e.Latency))
	b = appendNumber(b, "bytes", uint64(e.Bytes))
	b = appendNumber(b, "count", uint64(e.Count))
	b = appendNumber(b, "span_ns", uint64(e.Span))
	return appendNumber(b, "lost", e.Lost)
}

func appendNumber(b []byte, name string, n uint64) []byte {
	if n == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendUint(b, n, 10)
}

// appendText writes a JSON string. Characters that do not print are escaped, so that a record is
// one line wherever it is shown, and steers no terminal.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	plain := 0 // text from here on needs no escape
	for i := bareBytes(text); i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if r != '"' && r != '\\' && (r >= ' ' && r <= '~' || unicode.IsPrint(r)) {
			i += n
			continue
		}
		b = append(b, text[plain:i]...)
		b = appendEscape(b, r)
		i += n
		plain = i
	}
	return append(append(b, text[plain:]...), '"')
}

// bare holds what is written as it is: ASCII that prints, but for the blank, " and \.
var bare = func() (is [256]bool) {
	for c := byte('!'); c <= '~'; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// bareBytes returns how many bytes a text begins with that are bare. Most texts are nothing else.
func bareBytes(text string) int {
	for i := range len(text) {
		if !bare[text[i]] {
			return i
		}
	}
	return len(text)
}

func appendEscape(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r <= 0xFFFF:
		return fmt.Appendf(b, `\u%04x`, r)
	default:
		r -= 0x10000 // a pair of surrogates (RFC 8259 7)
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
	}
}

var errForm = errors.New("it is not one line that ends in a hash")

// decode reads a record: its entry, its body and the hash it claims.
func decode(data []byte) (e entry, body []byte, claimed digest, err error) {
	body, claimed, ok := split(data)
	if !ok || bytes.IndexByte(data, '\n') >= 0 {
		return e, nil, claimed, errForm
	}
	if scan(body, &e) {
		return e, body, claimed, nil
	}
	var slow entry // not e, which would be on the heap for every record
	if err := json.Unmarshal(data, &slow); err != nil {
		return slow, nil, claimed, err
	}
	return slow, body, claimed, nil
}

// split cuts a record in its body and the hash it claims.
func split(data []byte) (body []byte, claimed digest, ok bool) {
	n := len(data) - hashLen
	if n < 0 {
		return nil, claimed, false
	}
	body, tail := data[:n], data[n:]
	opens, text, closes := tail[:len(hashOpen)], tail[len(hashOpen):hashLen-len(hashClose)], tail[hashLen-len(hashClose):]
	if string(opens) != hashOpen || string(closes) != hashClose {
		return nil, claimed, false
	}
	claimed, ok = parseDigest(text)
	return body, claimed, ok
}

// parseDigest reads the one spelling of a hash: 64 lower-case hex digits.
func parseDigest[T string | []byte](text T) (d digest, ok bool) {
	if len(text) != 2*len(d) {
		return d, false
	}
	for i := range d {
		high, low := nibble(text[2*i]), nibble(text[2*i+1])
		if high|low > 0xF {
			return digest{}, false
		}
		d[i] = high<<4 | low
	}
	return d, true
}

// nibble returns what a lower-case hex digit stands for, 0x10 and more for anything else.
func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0x10
}
