package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func TestRulesAreChecked(t *testing.T) {
	for what, x := range map[string]struct {
		rule Rule
		good bool
	}{
		"an attribute":               {Rule{Claim: "dept", From: "attribute:dept"}, true},
		"a field":                    {Rule{Claim: "made", From: "field:created_at", Scope: "profile"}, true},
		"groups":                     {Rule{Claim: "roles", From: "groups:team-*", In: []string{InUserInfo}}, true},
		"a value":                    {Rule{Claim: "tenant", From: `value:{"a":[1]}`}, true},
		"an address as a name":       {Rule{Claim: "https://example.com/roles", From: "groups:*"}, true},
		"a name with a meaning":      {Rule{Claim: "sub", From: "attribute:dept"}, false},
		"another one":                {Rule{Claim: "email_verified", From: "value:true"}, false},
		"one of the tokens here":     {Rule{Claim: "nonce", From: "value:1"}, false},
		"the groups":                 {Rule{Claim: "groups", From: "groups:*"}, false},
		"no name":                    {Rule{From: "attribute:dept"}, false},
		"one in another case":        {Rule{Claim: "Email", From: "attribute:dept"}, false},
		"a name with space":          {Rule{Claim: "a b", From: "attribute:dept"}, false},
		"a long name":                {Rule{Claim: strings.Repeat("a", 101), From: "attribute:dept"}, false},
		"no source":                  {Rule{Claim: "a"}, false},
		"another source":             {Rule{Claim: "a", From: "ldap:dept"}, false},
		"an attribute of a bad name": {Rule{Claim: "a", From: "attribute:Dept"}, false},
		"a field that is none":       {Rule{Claim: "a", From: "field:password"}, false},
		"a pattern that is none":     {Rule{Claim: "a", From: "groups:[a"}, false},
		"an empty pattern":           {Rule{Claim: "a", From: "groups:"}, false},
		"a value that is no JSON":    {Rule{Claim: "a", From: "value:text"}, false},
		"two scopes":                 {Rule{Claim: "a", From: "value:1", Scope: "a b"}, false},
		"another place":              {Rule{Claim: "a", From: "value:1", In: []string{"access_token"}}, false},
	} {
		err := Check([]Rule{x.rule})
		if (err == nil) != x.good || err != nil && !errors.Is(err, driver.ErrInvalid) {
			t.Errorf("%s: %v, want good %t", what, err, x.good)
		}
	}
	if err := Check(make([]Rule, MaxRules+1)); err == nil {
		t.Error("too many rules are taken")
	}
	var large []Rule
	for i := range 5 {
		large = append(large, Rule{Claim: fmt.Sprint("c", i), From: `value:"` + strings.Repeat("x", 1000) + `"`})
	}
	if err := Check(large); err == nil {
		t.Error("5 KB of values are taken")
	}
}

func TestClaimsAreAddedByScopeAndPlace(t *testing.T) {
	rules := []Rule{
		{Claim: "dept", From: "attribute:dept"},
		{Claim: "phone", From: "attribute:phone"},
		{Claim: "mail", From: "field:email", Scope: "email"},
		{Claim: "nick", From: "field:nickname"},
		{Claim: "teams", From: "groups:team-*", In: []string{InUserInfo, InIntrospection}},
		{Claim: "tenant", From: `value:{"id":7}`, In: []string{InIDToken}},
	}
	u := User{Attributes: map[string]string{"dept": "R&D"}, Groups: []string{"ops", "team-a", "team-b"},
		Fields: map[string]any{"email": "ada@example.com", "nickname": ""}}
	for what, x := range map[string]struct {
		in     string
		scopes []string
		want   string
	}{
		"an id_token":   {InIDToken, []string{"openid"}, `{"dept":"R\u0026D","tenant":{"id":7}}`},
		"with a scope":  {InIDToken, []string{"openid", "email"}, `{"dept":"R\u0026D","mail":"ada@example.com","tenant":{"id":7}}`},
		"tools alone":   {InUserInfo, []string{"tools"}, `{}`},
		"userinfo":      {InUserInfo, []string{"openid"}, `{"dept":"R\u0026D","teams":["team-a","team-b"]}`},
		"introspection": {InIntrospection, []string{"openid"}, `{"dept":"R\u0026D","teams":["team-a","team-b"]}`},
	} {
		got, err := json.Marshal(Of(rules, x.in, x.scopes, u))
		if err != nil || string(got) != x.want {
			t.Errorf("%s: %s, %v, want %s", what, got, err, x.want)
		}
	}
	none := Of([]Rule{{Claim: "t", From: "groups:x*"}}, InUserInfo, []string{"openid"}, u)
	if got := none["t"]; fmt.Sprint(got) != "[]" {
		t.Errorf("no group matches: %v, want an empty list", got)
	}
	if got := Of([]Rule{{Claim: "sub", From: "value:1"}}, InUserInfo, []string{"openid"}, u); len(got) != 0 {
		t.Errorf("a rule that was never checked says %v", got)
	}
	if !NeedGroups(rules) || NeedGroups(rules[:3]) {
		t.Error("what needs groups is not known")
	}
}

func TestClaimsTakeAtMostFourKilobytes(t *testing.T) {
	var rules []Rule
	u := User{Attributes: map[string]string{}}
	for i := range 8 {
		name := fmt.Sprint("a", i)
		u.Attributes[name] = strings.Repeat("x", 1000)
		rules = append(rules, Rule{Claim: name, From: "attribute:" + name})
	}
	for range 5 {
		got := Of(rules, InUserInfo, []string{"openid"}, u)
		text, err := json.Marshal(got)
		if err != nil || len(text) > MaxClaims || len(got) != 4 || got["a3"] == nil {
			t.Fatalf("%d claims take %d bytes, %v", len(got), len(text), err)
		}
	}
}

func TestAttributesAreChecked(t *testing.T) {
	many := map[string]string{}
	for i := range MaxAttributes + 1 {
		many[fmt.Sprint("a", i)] = ""
	}
	for what, x := range map[string]struct {
		all  map[string]string
		good bool
	}{
		"none": {nil, true}, "some": {map[string]string{"dept": "R&D", "a_1": ""}, true}, "too many": {many, false},
		"an upper case name": {map[string]string{"Dept": "x"}, false}, "no name": {map[string]string{"": "x"}, false},
		"a digit first":  {map[string]string{"1a": "x"}, false},
		"a long name":    {map[string]string{strings.Repeat("a", 33): "x"}, false},
		"a long value":   {map[string]string{"a": strings.Repeat("x", 1025)}, false},
		"no text":        {map[string]string{"a": "\xff"}, false},
		"a value of 1 K": {map[string]string{"a": strings.Repeat("x", 1024)}, true},
	} {
		if err := CheckAttributes(x.all); (err == nil) != x.good {
			t.Errorf("%s: %v, want good %t", what, err, x.good)
		}
	}
}

func TestNamesOfAttributesAreChecked(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "desk": "", "desk a_1 " + strings.Repeat("a", 32): "", "desk Desk": `"Desk" is no name`,
		"1a": `"1a" is no name`, "désk": "is no name", strings.Repeat("a", 33): "the first a letter",
		"desk floor desk": `"desk" is there twice`,
	} {
		if err := CheckAttributeNames(strings.Fields(list)); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}
