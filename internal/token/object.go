package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// object is a JSON object by exact member name. encoding/json matches names in any case
// and lets the last of two win; two readers of one token must not see two tokens.
type object map[string]json.RawMessage

var errNotObject = errors.New("not one JSON object")

// parseObject refuses a member that is there twice, and one that is a known name in
// another case.
func parseObject(data []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') || !utf8.Valid(data) {
		return nil, errNotObject
	}
	o := object{}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, errNotObject
		}
		if _, twice := o[name]; twice || resembles(name) {
			return nil, errors.New("a member is there twice, or in another case")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errNotObject
		}
		o[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNotObject
	}
	return o, nil
}

// resembles reports whether a lenient reader would take a name for one of ours.
func resembles(name string) bool {
	ours := [...]string{"alg", "kid", "typ", "iss", "sub", "aud", "client_id", "scope", "jti", "gid", "iat", "exp", "nbf",
		"act", "cnf", "may_act", "via", "jkt"}
	return slices.ContainsFunc(ours[:], func(our string) bool { return our != name && strings.EqualFold(our, name) })
}

func (o object) text(name string) (text string, err error) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("%s is not a string", name)
	}
	return text, nil
}

// reader reads members one after the other and keeps the first complaint.
type reader struct {
	object object
	err    error
}

func (r *reader) complain(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s is not %s", name, want)
	}
}

func (r *reader) text(name string) string {
	text, err := r.object.text(name)
	if err != nil {
		r.complain(name, "a string")
	}
	return text
}

// name reads a text that must say something.
func (r *reader) name(name string) string {
	text := r.text(name)
	if text == "" {
		r.complain(name, "a string with something in it")
	}
	return text
}

// texts reads a string or an array of strings (RFC 7519 4.1.3).
func (r *reader) texts(name string) []string {
	if raw := r.object[name]; len(raw) == 0 || raw[0] != '[' {
		return []string{r.name(name)}
	}
	var texts []*string // null would pass for ""
	if err := json.Unmarshal(r.object[name], &texts); err != nil || slices.Contains(texts, nil) {
		r.complain(name, "an array of strings")
		return nil
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = *text
	}
	return out
}

// lastSecond is the end of the year 9999: later times overflow in other programs.
const lastSecond = 253402300799

// time reads whole seconds (RFC 7519 2, NumericDate). We write no fractions.
func (r *reader) time(name string) time.Time {
	seconds, err := strconv.ParseInt(string(r.object[name]), 10, 64)
	if err != nil || seconds < 0 || seconds > lastSecond {
		r.complain(name, "a time in whole seconds")
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
