package people

import (
	"context"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/find"
)

// listWith is the list of the users who have a role.
func listWith(role string) string { return "find.role." + role + "=" }

// texts are those that a user is found by.
func (u User) texts() []string { return []string{u.Username, u.Email, u.Name, u.Nickname, u.Sub} }

func (u User) entries() []string {
	all := append([]string{"all"}, find.Entries(document.ListOfAll, u.texts()...)...)
	if u.Role != "" {
		all = append(all, find.Entries(listWith(u.Role), u.texts()...)...)
	}
	return all
}

// FindUsers returns a page of up to n users whose username, email, name, nickname or sub begins with
// a text, without regard to case and to how it was typed; n is 1 to 500. It begins at the start or at
// a next of before, and next is "" at the end. A page may have less than n, also none, before the
// end. A user who has not been saved since before there was a search is found when
// Counts says that it is Whole.
func (s *Store) FindUsers(ctx context.Context, prefix, from string, n int) ([]User, string, error) {
	return document.Look(ctx, s.docs, Users, User.texts, document.ListOfAll, prefix, from, n)
}

// FindUsersWithRole is FindUsers among those who have a role; with the text "" it lists them all.
func (s *Store) FindUsersWithRole(ctx context.Context, role, prefix, from string, n int) ([]User, string, error) {
	return document.Look(ctx, s.docs, Users, User.texts, listWith(role), prefix, from, n)
}
