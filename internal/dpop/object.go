package dpop

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/rawjson"
)

// object holds the members of a JSON object, none of which is there twice or resembles one that is read here.
type object map[string]json.RawMessage

// known are the names that are read here.
var known = []string{"typ", "alg", "jwk", "kid", "jti", "htm", "htu", "iat", "nbf", "exp", "ath", "nonce"}

var errObject = errors.New("is no JSON object that names each member once")

func readObject(text []byte) (object, error) {
	if err := rawjson.Check(text, rawjson.Limits{Depth: 8, Once: true, Members: 32}); err != nil {
		return nil, errObject
	}
	if text = rawjson.Trim(text); text[0] != '{' {
		return nil, errObject
	}
	o := make(object, 8)
	for name, value := range rawjson.Members(text) {
		for _, ours := range known {
			if len(ours) == len(name) && ours != string(name) && strings.EqualFold(ours, string(name)) {
				return nil, errObject
			}
		}
		o[string(name)] = value
	}
	return o, nil
}

func (o object) text(name string) (text string, ok bool) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return string(rawjson.Unquote(raw)), true
}

// lastSecond is the end of the year 9999.
const lastSecond = 253402300799

// time reads a time, which may have a fraction (RFC 7519 2).
func (o object) time(name string) (at time.Time, ok bool) {
	seconds, err := strconv.ParseFloat(string(o[name]), 64)
	if err != nil || !(seconds >= 0 && seconds <= lastSecond) {
		return at, false
	}
	return time.Unix(int64(seconds), 0), true
}
