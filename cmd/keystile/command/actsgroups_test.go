package command

import "github.com/keystile/keystile/storage/groups"

// groupActs are the acts on groups, and on attributes of users.
var groupActs = []act{
	{
		name: "group create", before: withGroup,
		console: `POST /api/console/groups {"name":"{group}-b","label":"Others","managers":["{username}"]}`,
		command: "group create {group}-b --label Others --manager {username}",
	},
	{
		name: "group set", before: withGroup,
		console: `PATCH /api/console/groups/{group} {"label":"Others","managers":[]}`,
		command: "group set {group} --label Others --drop-manager {sub}",
	},
	{
		name: "group delete", before: withGroup,
		console: "DELETE /api/console/groups/{group}",
		command: "group delete {group} --yes",
	},
	{
		name: "member added", before: withGroup, silent: true,
		console: `POST /api/console/groups/{group}/members {"user":"{username}"}`,
		command: "group add {group} {username}",
	},
	{
		name: "member removed", before: withMember, silent: true,
		console: "DELETE /api/console/groups/{group}/members/{sub}",
		command: "group remove {group} {username}",
	},
	{
		name: "attributes", silent: true,
		console: `PATCH /api/console/users/{sub} {"attributes":{"dept":"Sales","floor":null}}`,
		command: "user set {username} --attribute dept=Sales --drop-attribute floor",
	},
}

// withGroup has {group}, which the user manages.
func withGroup(s *scene) {
	s.set("group", "team-"+s.ada.Username)
	_, err := s.store.SaveGroup(s.Context(), groups.Group{Name: s.filled("{group}"), Label: "Team",
		Managers: []string{s.ada.Sub}})
	fatal(s, err)
}

// withMember has {group}, of which the user is a member.
func withMember(s *scene) {
	withGroup(s)
	_, err := s.store.AddMember(s.Context(), s.filled("{group}"), s.ada.Sub)
	fatal(s, err)
}
