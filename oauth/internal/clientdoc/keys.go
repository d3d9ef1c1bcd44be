package clientdoc

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage/client"
)

const maxKeys = 20 // of one set

// secretMembers are those of private and symmetric keys (RFC 7518 6).
var secretMembers = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}

// parseKeys checks a JSON Web Key Set (RFC 7517) and returns it without blanks. It holds public keys.
func parseKeys(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if len(text) > client.MaxKeys {
		return nil, wrong("its keys have more than %d bytes", client.MaxKeys)
	}
	if err := rawjson.Check(text, bounds); err != nil || text[0] != '{' {
		return nil, wrong("its keys are no JSON Web Key Set")
	}
	var keys json.RawMessage
	for name, value := range rawjson.Members(text) {
		if string(name) == "keys" {
			keys = value
		}
	}
	if len(keys) == 0 || keys[0] != '[' {
		return nil, wrong("its keys are no JSON Web Key Set: there is no array of keys")
	}
	n := 0
	for key := range rawjson.Elements(keys) {
		if n++; n > maxKeys {
			return nil, wrong("its keys are more than %d", maxKeys)
		}
		if err := checkPublic(key); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, wrong("its keys are none")
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	return compact.Bytes(), err
}

func checkPublic(key json.RawMessage) error {
	if key[0] != '{' {
		return wrong("one of its keys is no JSON object")
	}
	kind := ""
	for name, value := range rawjson.Members(key) {
		switch {
		case slices.Contains(secretMembers, string(name)):
			return wrong("one of its keys is private or symmetric, and everybody can read it")
		case string(name) == "kty" && value[0] == '"':
			kind = string(rawjson.Unquote(value))
		}
	}
	if kind == "" || kind == "oct" {
		return wrong("one of its keys is not public")
	}
	return nil
}
