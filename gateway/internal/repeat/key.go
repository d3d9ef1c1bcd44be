package repeat

import (
	"errors"
	"strings"
)

// Header is the name of the header, as net/http writes it.
const Header = "Idempotency-Key"

// maxKey bounds a key; common clients send a UUID.
const maxKey = 255

// Why a header holds no key.
var (
	errSeveral = errors.New("it is there more than once")
	errLong    = errors.New("it is longer than 255 characters")
	errEmpty   = errors.New("it is empty")
	errForm    = errors.New(`it is neither a text in quotes nor a word of visible ASCII without " , ; and \`)
)

// ParseKey returns the key in the values of the header: a String of RFC 9651 (3.3.3), without
// parameters, or a word, which many clients send. The two forms of one text are one key.
func ParseKey(values []string) (string, error) {
	if len(values) != 1 {
		return "", errSeveral
	}
	text := strings.Trim(values[0], " \t")
	switch {
	case text == "":
		return "", errEmpty
	case text[0] == '"':
		return quoted(text[1:])
	case len(text) > maxKey:
		return "", errLong
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '"' || c == ',' || c == ';' || c == '\\' {
			return "", errForm
		}
	}
	return text, nil
}

// quoted reads a String behind its first quote.
func quoted(text string) (string, error) {
	var key strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' && i < len(text)-1:
			return "", errForm
		case c == '"' && key.Len() == 0:
			return "", errEmpty
		case c == '"':
			return key.String(), nil
		case c < ' ' || c > '~':
			return "", errForm
		case c == '\\':
			if i++; i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", errForm
			}
			c = text[i]
		}
		if key.Len() == maxKey {
			return "", errLong
		}
		key.WriteByte(c)
	}
	return "", errForm
}
