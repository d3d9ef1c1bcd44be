package mcpcall

import (
	"encoding/json"

	"github.com/keystile/keystile/internal/rawjson"
)

type raw = json.RawMessage

const (
	maxLevels = 64            // of arguments and structured content
	maxNested = maxLevels + 8 // of a whole message around them, or around a schema
)

// object returns the members of an object, nil if the text is something else or names one
// of them twice.
func object(text raw) map[string]raw {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	out := map[string]raw{}
	for name, v := range rawjson.Members(text) {
		if _, twice := out[string(name)]; twice {
			return nil
		}
		out[string(name)] = v
	}
	return out
}

// stringOf returns a string. It is not ok if there is something else, or nothing.
func stringOf(v raw) (s string, ok bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return string(rawjson.Unquote(v)), true
}

// present reports whether a member is there and not null.
func present(v raw) bool { return len(v) > 0 && v[0] != 'n' }
