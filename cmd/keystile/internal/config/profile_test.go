package config

import (
	"slices"
	"testing"
)

func TestAttributesThatUsersChangeAreListed(t *testing.T) {
	for what, c := range map[string]*Config{
		"a file":          load(t, []string{"KEYSTILE_CONFIG=" + write(t, "profile:\n  attributes: [desk, pronouns]\n")}),
		"the environment": load(t, []string{"KEYSTILE_PROFILE_ATTRIBUTES=desk, pronouns"}),
	} {
		if !slices.Equal(c.ProfileAttributes, []string{"desk", "pronouns"}) {
			t.Errorf("%s lists %q", what, c.ProfileAttributes)
		}
	}
	if c := load(t, nil); len(c.ProfileAttributes) != 0 {
		t.Errorf("without the key there are %q", c.ProfileAttributes)
	}
	for list, want := range map[string]string{
		"desk, Pronouns":  `"Pronouns" is no name of an attribute: it has 1 to 32 of a-z 0-9 _, the first a letter`,
		"desk floor desk": `"desk" is there twice`,
	} {
		wantComplaint(t, []string{"KEYSTILE_PROFILE_ATTRIBUTES=" + list}, "", want)
	}
}
