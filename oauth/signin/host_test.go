package signin

import "github.com/keystile/keystile/oauth/signin/users"

// hostOf makes a Host of a table of a test, with everything that the table implements.
func hostOf(table users.Users) users.Host {
	h := users.Host{Users: table}
	h.Named, _ = table.(users.NamedUsers)
	h.Connected, _ = table.(users.ConnectedUsers)
	h.Logins, _ = table.(users.LoginStore)
	h.Emails, _ = table.(users.EmailUsers)
	h.Passwords, _ = table.(users.PasswordUsers)
	h.Marks, _ = table.(users.PasswordMarker)
	h.Profiles, _ = table.(users.ProfileUsers)
	h.Attributes, _ = table.(users.AttributeUsers)
	h.Erasable, _ = table.(users.ErasableUsers)
	h.SignUps, _ = table.(users.SignUpUsers)
	h.Invited, _ = table.(users.InvitedUsers)
	return h
}
