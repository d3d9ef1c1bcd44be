package tools

import (
	"encoding/json"
	"testing"
)

func TestDifferenceNamesTheArgumentsThatDiffer(t *testing.T) {
	const before = `{"properties":{"id":{"type":"integer"},"name":{"type":"string"},"gone":{}},"required":["id"]}`
	for name, c := range map[string]struct{ after, want string }{
		"the same but for space": {`{"required":["id"],"properties":{"gone":{},"id":{ "type":"integer" },"name":{"type":"string"}}}`, ""},
		"one more, one less":     {`{"properties":{"id":{"type":"integer"},"name":{"type":"string"},"more":{}},"required":["id"]}`, " (-gone +more)"},
		"another type":           {`{"properties":{"id":{"type":"string"},"name":{"type":"string"},"gone":{}},"required":["id"]}`, " (~id)"},
		"required now":           {`{"properties":{"id":{"type":"integer"},"name":{"type":"string"},"gone":{}},"required":["id","name"]}`, " (~name)"},
		"none at all":            {`7`, " (-gone -id -name)"},
	} {
		if got := argumentChanges(json.RawMessage(before), json.RawMessage(c.after)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
