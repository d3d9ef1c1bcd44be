package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// mapping returns which groups the users of the provider are in here; without a Claim, it says nothing of groups.
func (u *upstream) mapping(ctx context.Context) (groups.Mapping, error) {
	if u.Mapped != nil {
		if m, err := u.Mapped(ctx, u.Config.Name); !errors.Is(err, storage.ErrNotFound) {
			return m, err
		}
	}
	return groups.Mapping{Claim: u.GroupsClaim, Groups: u.GroupsMap}, nil
}

// groupsOf returns the groups here that a user is in as the provider says, sorted and each once. A claim that is not
// there, also not at userinfo, says that there are none: that is how most providers write it. It returns nil where
// nothing is said: where the claim is of another type, or where the provider has left it out because it is too long
// (OpenID Connect Core, section 5.6.2, as Entra does).
func groupsOf(c claims, m groups.Mapping) []string {
	var elsewhere map[string]json.RawMessage
	if json.Unmarshal(c["_claim_names"], &elsewhere) == nil && elsewhere[m.Claim] != nil {
		return nil
	}
	var theirs []any
	if said := c[m.Claim]; len(said) > 0 && json.Unmarshal(said, &theirs) != nil {
		var one string
		if json.Unmarshal(said, &one) != nil {
			return nil
		}
		theirs = []any{one}
	}
	ours := []string{}
	for _, one := range theirs {
		if name, is := one.(string); is && m.Groups[name] != "" {
			ours = append(ours, m.Groups[name])
		}
	}
	slices.Sort(ours)
	return slices.Compact(ours)
}
