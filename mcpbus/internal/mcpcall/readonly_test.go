package mcpcall

import "testing"

// Decision 54: nothing but a plain yes of the upstream makes a tool read-only.
func TestToolIsReadOnlyIfItsUpstreamSaysSo(t *testing.T) {
	for annotations, want := range map[string]bool{
		`{"readOnlyHint":true}`: true, `{ "title":"x", "readOnlyHint" : true }`: true,
		`{"readOnlyHint":false}`: false, `{"readOnlyHint":"true"}`: false, `{"readOnlyHint":1}`: false, `{"READONLYHINT":true}`: false, `{}`: false, `[true]`: false, `null`: false,
		`{"readOnlyHint":true,"readOnlyHint":false}`: false,
	} {
		f := imports(t, "m", `{"name":"x","inputSchema":{"type":"object"},"annotations":`+annotations+`}`)
		if len(f.Tools) != 1 || f.Tools[0].ReadOnly != want {
			t.Errorf("%s: %+v, want it read-only: %t", annotations, f.Tools, want)
		}
	}
}
