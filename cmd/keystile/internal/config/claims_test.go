package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage/claim"
)

func TestRulesOfClaimsAreReadFromAFileAndTheEnvironment(t *testing.T) {
	want := []claim.Rule{
		{Claim: "department", From: "attribute:dept", Scope: "profile"},
		{Claim: "https://example.com/tenant", From: `value:{"mail":"ops@example.com"}`,
			In: []string{"id_token", "userinfo"}},
	}
	file := "claims:\n  - {claim: department, from: attribute:dept, scope: profile}\n" +
		"  - claim: https://example.com/tenant\n    from: 'value:{\"mail\":\"ops@example.com\"}'\n" +
		"    in: [id_token, userinfo]\n"
	env := `KEYSTILE_CLAIMS=[{"claim":"department","from":"attribute:dept","scope":"profile"},` +
		`{"claim":"https://example.com/tenant","from":"value:{\"mail\":\"ops@example.com\"}",` +
		`"in":["id_token","userinfo"]}]`
	for what, c := range map[string]*Config{"a file": load(t, []string{"KEYSTILE_CONFIG=" + write(t, file)}),
		"the environment": load(t, []string{env})} {
		if !reflect.DeepEqual(c.ClaimRules, want) {
			t.Errorf("%s says %+v, want %+v", what, c.ClaimRules, want)
		}
	}
	if c := load(t, nil); len(c.ClaimRules) != 0 {
		t.Errorf("without the key there are %+v", c.ClaimRules)
	}
}

func TestRulesOfClaimsAreCheckedAtTheStart(t *testing.T) {
	for list, want := range map[string]string{
		`[{"claim":"sub","from":"value:1"}]`:                     "has a meaning that a rule does not change",
		`[{"claim":"a","from":"ldap:dept"}]`:                     "attribute:NAME, field:NAME, groups:PATTERN, value:JSON",
		`[{"claim":"a","from":"value:text"}]`:                    "is not JSON",
		`[{"claim":"a"}]`:                                        "from:",
		`[{"claim":"a","from":"value:1","in":["access_token"]}]`: "none of id_token, userinfo, introspection",
		`[{"claim":"a","from":"value:1","in":"userinfo"}]`:       "a list of rules",
		`[{"clam":"a","from":"value:1"}]`:                        "a list of rules",
		`{"claim":"a","from":"value:1"}`:                         "a list of rules",
		`department`:                                             "a list of rules",
		`[{"claim":"a","from":"value:1"}` + strings.Repeat(`,{"claim":"a","from":"value:1"}`, 32) + `]`: "at most 32 rules",
	} {
		wantComplaint(t, []string{"KEYSTILE_CLAIMS=" + list}, "", want)
	}
	wantComplaint(t, nil, "claims: {claim: a}\n", "claims")
	if _, err := Load(cli.Args{}, []string{"KEYSTILE_CLAIMS="}); err != nil {
		t.Errorf("nothing in it: %v", err)
	}
}
