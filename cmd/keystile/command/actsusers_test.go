package command

import (
	"time"

	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// userActs are the acts on users and what is theirs.
var userActs = []act{
	{
		name: "user create", before: withNames, silent: true,
		console: `POST /api/console/users {"username":"{new}","password":"correct horse battery","role":"developer","nickname":"Ada"}`,
		command: "user create --username {new} --password {password} --role developer --nickname Ada",
	},
	{
		name:    "role given",
		console: `PATCH /api/console/users/{sub} {"role":"admin"}`,
		command: "user set {username} --role admin",
	},
	{
		name: "role taken away", before: asDeveloper,
		console: `PATCH /api/console/users/{sub} {"role":""}`,
		command: "user set {username} --role none",
	},
	{
		name: "nickname", silent: true,
		console: `PATCH /api/console/users/{sub} {"nickname":"Ada"}`,
		command: "user set {username} --nickname Ada",
	},
	{name: "name", silent: true, command: "user set {username} --name Ada"},
	{name: "email", silent: true, command: "user set {username} --email ada@example.org"},
	{name: "email verified", before: withNames, silent: true,
		command: "user set {username} --email {new}@example.org --email-verified"},
	{name: "password typed", before: withNames, command: "user set {username} --password {password}"},
	{name: "password drawn", console: `POST /api/console/users/{sub}/password {}`},
	{
		name:    "user disable",
		console: `PATCH /api/console/users/{sub} {"disabled":true}`,
		command: "user disable {username}",
	},
	{
		name: "user enable", before: whenDisabled,
		console: `PATCH /api/console/users/{sub} {"disabled":false}`,
		command: "user enable {username}",
	},
	{
		name:    "sign out everywhere",
		console: "DELETE /api/console/users/{sub}/sessions",
		command: "session end {username}",
	},
	{name: "session end", before: withSession, console: "DELETE /api/console/users/{sub}/sessions/{session}"},
	{
		name: "user factors reset", before: withFactors,
		console: "DELETE /api/console/users/{sub}/factors",
		command: "user factors {username} --reset",
	},
	{name: "API key create", command: "apikey create {username} --name backup --scope tools/read"},
	{
		name: "API key revoke", before: withKey,
		console: "DELETE /api/console/users/{sub}/keys/{key}",
		command: "apikey revoke {key}",
	},
	{name: "grant withdraw", before: withConsent, console: "DELETE /api/console/users/{sub}/consents/{client_id}"},
	{
		name: "user invite", silent: true,
		console: `POST /api/console/invitations {"role":"developer","days":3}`,
		command: "user invite --role developer --days 3",
	},
	{name: "user unlock", silent: true, console: `POST /api/console/users/{sub}/unlock {"address":"192.0.2.7"}`},
	{name: "address unlock", silent: true, served: true, command: "lockout clear 192.0.2.7"},
	{
		name: "user erase", before: owningNothing, late: true,
		console: "DELETE /api/console/users/{sub}",
		command: "user erase {username} --yes",
	},
	{name: "user export", console: "POST /api/console/users/{sub}/export {}"},
}

// withNames has {new}, the name of a user who is not there yet, and {password}.
func withNames(s *scene) { s.set("new", "new"+s.ada.Username, "password", "correct horse battery") }

// change writes what is different about the user.
func (s *scene) change(do func(u *storage.User)) {
	do(&s.ada.User)
	var err error
	s.ada.User, err = s.store.SaveUser(s.Context(), s.ada.User)
	fatal(s, err)
}

func asDeveloper(s *scene) { s.change(func(u *storage.User) { u.Role = storage.RoleDeveloper }) }

func whenDisabled(s *scene) { s.change(func(u *storage.User) { u.Disabled = true }) }

func withSession(s *scene) { s.set("session", useracts.SessionName(s.ada.session.ID)) }

func withFactors(s *scene) {
	_, err := s.store.SaveFactors(s.Context(), storage.Factors{UserID: s.ada.Sub,
		Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
		AppSecret:     storage.NewSecret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")})
	fatal(s, err)
}

func withKey(s *scene) {
	_, k, err := apikeys.Make(s.Context(), s.store, s.ada.Sub, "backup", "tools/read", time.Hour)
	fatal(s, err)
	s.set("key", k.ID)
}

func withConsent(s *scene) {
	app, err := s.store.App(s.Context(), s.filled("{client_id}"))
	fatal(s, err)
	s.grant(s.ada, app, "openid profile", "")
}

func owningNothing(s *scene) {
	app, err := s.store.App(s.Context(), s.filled("{client_id}"))
	fatal(s, err)
	_, err = s.store.GiveApp(s.Context(), app, "")
	fatal(s, err)
}
