package fields

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

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

// Over returns headers as they are once others are set and those that are nil are removed. A name is the same however
// it is written.
func Over(there map[string]storage.Secret, changed map[string]*storage.Secret) map[string]storage.Secret {
	after := map[string]storage.Secret{}
	for name, value := range there {
		same := func(changed string) bool { return strings.EqualFold(changed, name) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(changed)), same) {
			after[name] = value
		}
	}
	for name, value := range changed {
		if value != nil {
			after[name] = *value
		}
	}
	return after
}

// With returns headers with others that take the place of those of their names.
func With(there, others map[string]storage.Secret) map[string]storage.Secret {
	set := make(map[string]*storage.Secret, len(others))
	for name, value := range others {
		set[name] = &value
	}
	return Over(there, set)
}
