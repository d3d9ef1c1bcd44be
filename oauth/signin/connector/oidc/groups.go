package oidc

import (
	"encoding/json"
	"slices"
)

// groups returns the groups here that a user is in as the provider says, sorted and each once. A claim that is not
// there, also not at userinfo, says that there are none: that is how most providers write it. It returns nil where
// nothing is said: where the claim is of another type, or where the provider has left it out because it is too long
// (OpenID Connect Core, section 5.6.2, as Entra does).
func (v *visit) groups(c claims) []string {
	var elsewhere map[string]json.RawMessage
	if json.Unmarshal(c["_claim_names"], &elsewhere) == nil && elsewhere[v.GroupsClaim] != nil {
		return nil
	}
	var theirs []any
	if said := c[v.GroupsClaim]; len(said) > 0 && json.Unmarshal(said, &theirs) != nil {
		var one string
		if json.Unmarshal(said, &one) != nil {
			return nil
		}
		theirs = []any{one}
	}
	ours := []string{}
	for _, one := range theirs {
		if name, is := one.(string); is && v.GroupsMap[name] != "" {
			ours = append(ours, v.GroupsMap[name])
		}
	}
	slices.Sort(ours)
	return slices.Compact(ours)
}
