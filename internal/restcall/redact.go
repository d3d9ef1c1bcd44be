package restcall

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// minHidden is the length in bytes from which a secret is looked for in answers. A shorter
// one would be found by chance, and would then show by what is missing.
const minHidden = 8

// hidden returns the texts that no answer may have: the secret, what is sent of it, of
// basic the password alone too; of a short secret the whole header.
func hidden(secret, sent string, basic bool) []string {
	_, value, scheme := strings.Cut(sent, " ")
	texts := []string{secret}
	if scheme && value != secret {
		texts = append(texts, value)
	}
	if basic {
		_, password, _ := strings.Cut(secret, ":")
		texts = append(texts, password)
	}
	if len(secret) < minHidden || scheme && len(value) < minHidden {
		texts = append(texts, sent)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return len(text) < minHidden })
}

// maxLayers bounds the layers of escaping that are searched in an answer: an answer in JSON may
// have JSON in a string, or a URL.
const maxLayers = 3

// Redact removes the secret from an answer that repeats it, as it is or escaped in any of
// the ways of [unescaped], and in base64. It reads the answer a fixed number of times.
//
// Upstreams that echo their request are common. The secret is found as it is; percent-encoded, escaped as in
// JSON, in a program or in HTML, in capitals or not, up to three of these within each other; read as Latin-1;
// and in base64 of both alphabets, wherever in a longer text it stands, with up to a character more at each
// end. So is the value as it was sent, and of basic the password alone. A secret of less than 8 bytes is not
// looked for, or it would remove words and be shown by the gaps; of a short token or a short user:password the
// whole header value is. Not found are base64 that is broken into lines, hexadecimal, and secrets that were
// encrypted or compressed. The work is linear: an answer of 1 MiB takes 4 ms, one full of escapes some 40
// (BenchmarkRedact).
func (c Credential) Redact(answer []byte) []byte {
	if c.once != "" && bytes.Contains(answer, []byte(c.once)) {
		answer = bytes.ReplaceAll(answer, []byte(c.once), []byte("[secret]"))
	}
	if len(c.hide) == 0 {
		return answer
	}
	layers := [][]byte{answer}
	var found []span
	for {
		layer := layers[len(layers)-1]
		inLayer := find(layer, c.hide)
		for i := len(layers) - 2; i >= 0 && len(inLayer) > 0; i-- {
			inLayer = lift(inLayer, layers[i])
		}
		found = append(found, inLayer...)
		if len(layers) > maxLayers || !bytes.ContainsAny(layer, escapes) {
			break
		}
		next := unescaped(layer)
		if len(next) == len(layer) {
			break // nothing was
		}
		layers = append(layers, next)
	}
	return redacted(answer, found)
}

// Hiding returns a Credential that removes one more text from answers, as it is: one of a single call, in an alphabet
// that nothing escapes. To look for more of it would cost each call more than it is worth.
func (c Credential) Hiding(text string) Credential {
	c.once = text
	return c
}

// span is a piece of an answer.
type span struct{ from, to int }

func byPlace(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }

func redacted(answer []byte, found []span) []byte {
	if len(found) == 0 {
		return answer
	}
	slices.SortFunc(found, byPlace)
	out, done := make([]byte, 0, len(answer)), 0
	for i := 0; i < len(found); {
		whole := found[i]
		for i++; i < len(found) && found[i].from < whole.to; i++ { // one within or across the other
			whole.to = max(whole.to, found[i].to)
		}
		before := answer[done:whole.from]
		if odd := len(before) - len(bytes.TrimRight(before, `\`)); odd%2 == 1 { // it begins within an escape, which must not take the bracket
			before = before[:len(before)-1]
		}
		out = append(append(out, before...), "[secret]"...)
		done = whole.to
	}
	return append(out, answer[done:]...)
}

// needle is a text to look for. A text in base64 may begin or end within a character, which then
// goes too, as the padding does.
type needle struct {
	text        string
	base64      bool
	left, right int // characters beside it that have a part of the secret
}

// needles returns how texts may stand in an answer whose escapes have been undone.
func needles(texts []string) (out []needle) {
	for _, text := range texts {
		for _, plain := range []string{text, readAsLatin1(text)} {
			for range maxLayers + 1 { // a secret may look like an escape, which is then undone too
				out = append(out, needle{text: plain})
				if strings.Contains(plain, " ") {
					out = append(out, needle{text: strings.ReplaceAll(plain, " ", "+")}) // in a form
				}
				if !strings.ContainsAny(plain, escapes) {
					break
				}
				plain = string(unescaped([]byte(plain)))
			}
		}
		for shift := range 3 {
			out = append(out, inBase64(text, shift)...)
		}
	}
	out = slices.DeleteFunc(out, func(n needle) bool { return len(n.text) < minHidden })
	slices.SortFunc(out, func(a, b needle) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(out,
		func(a, b needle) bool { return a.text == b.text && a.left == b.left && a.right == b.right })
}

// readAsLatin1 returns what is made of a text by servers that take each byte of a header
// for a character, as HTTP once said.
func readAsLatin1(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteRune(rune(text[i]))
	}
	return out.String()
}

// inBase64 returns the characters that a text makes in base64, in both alphabets, when
// shift bytes stand before it in its group of three.
func inBase64(text string, shift int) []needle {
	encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), text...))
	n := needle{base64: true, left: min(shift, 1)}
	encoded = encoded[min(shift*8, 1)+shift:] // 0, 2 and 3: the characters that hold other bytes too
	if (shift+len(text))%3 != 0 {
		encoded, n.right = encoded[:len(encoded)-1], 1
	}
	n.text = encoded
	if !strings.ContainsAny(encoded, "+/") {
		return []needle{n}
	}
	inURL := n
	inURL.text = strings.NewReplacer("+", "-", "/", "_").Replace(encoded)
	return []needle{n, inURL}
}

// find returns where a text has the needles.
func find(text []byte, wanted []needle) (found []span) {
	for _, n := range wanted {
		wants := []byte(n.text)
		for from := 0; ; {
			i := bytes.Index(text[from:], wants)
			if i < 0 {
				break
			}
			s := span{from + i, from + i + len(wants)}
			from = s.to
			if n.base64 {
				s = n.widen(s, text)
			}
			found = append(found, s)
		}
	}
	slices.SortFunc(found, byPlace)
	return found
}

// widen adds the characters of base64 at both ends, and the padding.
func (n needle) widen(s span, text []byte) span {
	for range n.left {
		if s.from > 0 && isBase64(text[s.from-1]) {
			s.from--
		}
	}
	for range n.right {
		if s.to < len(text) && isBase64(text[s.to]) {
			s.to++
		}
	}
	for range 2 {
		if s.to < len(text) && text[s.to] == '=' {
			s.to++
		}
	}
	return s
}

func isBase64(c byte) bool {
	return unreserved(c) && c != '.' && c != '~' || c == '+' || c == '/'
}
