package oidc

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

func TestGroupsOfAProviderAreThoseOfTheMap(t *testing.T) {
	m := groups.Mapping{Claim: "groups", Groups: map[string]string{"/ops": "ops", "/dev": "dev", "/dev/lead": "dev"}}
	for text, want := range map[string][]string{
		`{"groups":["/ops","/none","/dev"]}`:       {"dev", "ops"},
		`{"groups":["/dev/lead","/dev"]}`:          {"dev"},
		`{"groups":"/ops"}`:                        {"ops"},
		`{"groups":[]}`:                            {},
		`{"groups":["ops"]}`:                       {}, // our names are not theirs
		`{"groups":[7,{"name":"/ops"},"/dev"]}`:    {"dev"},
		`{}`:                                       {},
		`{"groups":{"/ops":true}}`:                 nil,
		`{"groups":7}`:                             nil,
		`{"_claim_names":{"groups":"src1"}}`:       nil,
		`{"_claim_names":{"x":"y"},"groups":null}`: {},
	} {
		if got := groupsOf(claimsOf(t, text), m); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %#v, want %#v", text, got, want)
		}
	}
}

func TestGroupsOfAProviderAreChecked(t *testing.T) {
	for what, change := range map[string]func(*Config){
		"give both": func(c *Config) { c.GroupsClaim = "groups" },
		"neither":   func(c *Config) { c.GroupsMap = map[string]string{"a": "b"} },
		"is 1 to 63": func(c *Config) {
			c.GroupsClaim, c.GroupsMap = "groups", map[string]string{"a": "Ops"}
		},
	} {
		c := Config{Name: "test", Issuer: Google, ClientID: "a", ClientSecret: storage.NewSecret("b")}
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want one that says %q", err, what)
		}
	}
}
