package openapi

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Decision 39.
func TestNamesOfOperations(t *testing.T) {
	for _, c := range []struct {
		why, member, paths string
		want               []string
	}{
		{"a duplicate takes its derived name, then a number", "", `"/a":{"get":{"operationId":"x"}},"/b":{"get":{"operationId":"x"}},"/c":{"get":{"operationId":"get_b"}},"/d":{"get":{"operationId":"x"}}`,
			[]string{"x", "get_b_2", "get_b", "get_d"}},
		{"a legal name is never changed, even if an earlier one is made into it", "", `"/a":{"get":{"operationId":"p/l"}},"/b":{"get":{"operationId":"p_l"}}`,
			[]string{"get_a", "p_l"}},
		{"of two that are made into one, the first has it", "", `"/a":{"get":{"operationId":"p/l"}},"/b":{"get":{"operationId":"p.l"}}`, []string{"p_l", "get_b"}},
		{"runs become one, the ends none", "", `"/a":{"get":{"operationId":" //a..b/"}},"/b":{"get":{"operationId":"@-"}},"/c":{"get":{"operationId":"__"}},"/d":{"get":{"operationId":7}},"/e":{"get":{"operationId":"@@"}}`,
			[]string{"a_b", "get_b", "__", "get_d", "get_e"}},
		{"numbers go on", "", `"/a":{"get":{}},"/a/":{"get":{}},"/a//":{"get":{}},"/b":{"get":{"operationId":"get_a_2"}}`,
			[]string{"get_a", "get_a_3", "get_a_4", "get_a_2"}},
		{"a number finds room", strings.Repeat("m", maxMember), `"/abcdefghij":{"get":{}},"/abcdefghij/":{"get":{}}`, []string{"get_abcdefghij", "get_abcdefgh_2"}},
		{"without a member a name has 64 itself", "", `"/a":{"get":{"operationId":"` + strings.Repeat("x", 64) + `"}}`, []string{strings.Repeat("x", 64)}},
		{"what was cut is told apart, by method too", "m", `"/a":{"get":{"operationId":"` + strings.Repeat("x", 80) + `"},"post":{"operationId":"` + strings.Repeat("x", 81) + `"}}`,
			[]string{strings.Repeat("x", 52) + "_f302dfbc", strings.Repeat("x", 52) + "_2b964797"}},
	} {
		r := parsed(t, []byte(`{"openapi":"3.0.3","paths":{`+c.paths+`}}`), Options{Member: c.member})
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		if !reflect.DeepEqual(names, c.want) {
			t.Errorf("%s: names = %q, want %q", c.why, names, c.want)
		}
	}
}

func TestNamesOfTheLongestMemberAreStillUnique(t *testing.T) {
	var b strings.Builder
	for i := range 999 {
		fmt.Fprintf(&b, `"/a%s":{"get":{},"post":{}},`, strings.Repeat("/", i))
	}
	member, seen := strings.Repeat("m", maxMember), map[string]bool{}
	for _, tool := range parsed(t, []byte(`{"openapi":"3.0.3","paths":{`+b.String()+`"/":{"get":{}}}}`), Options{Member: member}).Tools {
		if seen[tool.Name] || len(member+"__"+tool.Name) > 64 {
			t.Errorf("the name %q is there twice or too long", tool.Name)
		}
		seen[tool.Name] = true
	}
	if len(seen) != 1999 || !seen["get_a_999"] || !seen["post_a_999"] {
		t.Errorf("%d names, want 1,999 that end with get_a_999 and post_a_999", len(seen))
	}
}

func TestLostOperationDoesNotRenameOthers(t *testing.T) {
	paths := `"/b":{"get":{"operationId":"b"}},"/c":{"get":{}}`
	all := parsed(t, []byte(`{"openapi":"3.0.3","paths":{"/a":{"get":{}},`+paths+`}}`), Options{})
	rest := parsed(t, []byte(`{"openapi":"3.0.3","paths":{`+paths+`}}`), Options{})
	if !reflect.DeepEqual(all.Tools[1:], rest.Tools) {
		t.Errorf("tools = %v, want the same without /a: %v", rest.Tools, all.Tools[1:])
	}
}
