// Package groups keeps groups of users, and who is a member of which.
//
// Programs use its methods by package storage:
//
//	g, err := store.SaveGroup(ctx, groups.Group{Name: "ops", Label: "Operations"})
//	_, err = store.AddMember(ctx, "ops", sub)
//	all, err := store.Memberships(ctx, sub)
//
// # Choices
//
// Groups are flat. The groups of a user are read in one step, however large the groups are, and without a cache: they
// are one small record beside the user.
//
// That record has an index entry for each group, by which the members of a group are listed page by page. Nothing on
// the path of a request lists them. A record holds 60 memberships, as a document has 64 entries; the rest follow in
// further parts, which are written together with the first one.
//
// A group that is deleted ends in one step, however many members it has: its key goes on a short list of what counts
// no more, and the memberships are removed afterwards, a few at a time. A group that is made anew under the name has
// another key, so that nobody is a member of it by what was before.
package groups
