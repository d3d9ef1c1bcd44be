package fields

import (
	"encoding/json"

	"github.com/keystile/keystile/storage"
)

// HeadersRule says what Headers reads.
const HeadersRule = `an object of texts by the names of headers, each once, such as {"X-API-Key":"..."}`

// Headers reads the field headers. Where null may stand for a value, it is returned as a nil pointer.
func Headers(raw json.RawMessage, null bool) (map[string]*storage.Secret, bool) {
	var sent map[string]json.RawMessage
	if json.Unmarshal(raw, &sent) != nil || sent == nil || Count(raw) != len(sent) {
		return nil, false
	}
	headers := make(map[string]*storage.Secret, len(sent))
	for name, one := range sent {
		if null && string(one) == "null" {
			headers[name] = nil
			continue
		}
		text, ok := Text(one)
		if !ok || string(one) == "null" {
			return nil, false
		}
		headers[name] = new(storage.NewSecret(text))
	}
	return headers, true
}
