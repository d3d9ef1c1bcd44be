package signin

import (
	"cmp"
	"maps"
	"slices"

	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// Ways returns every way in of the Config, and whom each makes a user of. New, keystile.New and the program
// ask nothing else about it. It reads no Store and asks of a Connector its Name alone.
func (c Config) Ways() access.Ways {
	c.SignUp = cmp.Or(c.SignUp, SignUpClosed)
	stored := c.Users.Users == nil
	form, emails, invited := stored || c.Users.SignUps != nil, stored || c.Users.Emails != nil, stored ||
		c.Users.Invited != nil
	ways := access.Ways{{Method: storage.LoginSelf, SignUp: SignUpClosed}}
	if form {
		ways[0].SignUp = c.SignUp
	}
	if emails && c.Mailer != nil {
		way := access.Way{Method: storage.LoginEmail, SignUp: c.SignUp}
		if way.SignUp == SignUpInvitation && !invited {
			way.SignUp = SignUpClosed
		}
		ways = append(ways, way)
	}
	for _, connector := range c.Connectors {
		way := access.Way{Method: connector.Name(), SignUp: cmp.Or(c.ConnectorSignUp[connector.Name()], c.SignUp)}
		if !invited { // whom Connected makes a user of is the users' own choice
			way.SignUp = SignUpOpen
		}
		ways = append(ways, way)
	}
	return append(ways, c.ownUsers()...)
}

// ownUsers returns the way of a table of users that is not the Store's: others write to it, so that it counts
// as open unless the host says that it is not.
func (c Config) ownUsers() access.Ways {
	if c.Users.Users == nil || c.Users.Stored() || c.Users.Closed {
		return nil
	}
	return access.Ways{{Method: access.OwnUsers, SignUp: SignUpOpen}}
}

// InvitationPage returns the address of the page where people use an invitation, "" where no page takes one.
func (c Config) InvitationPage() string {
	ways := c.Ways()
	switch {
	case len(ways.Invited()) == 0:
		return ""
	case ways.Of(storage.LoginSelf) == SignUpInvitation:
		return c.BaseURL + signup.Path
	}
	return c.BaseURL + web.FormPath
}

// checkWays complains about what ConnectorSignUp says of nothing, or not in its words.
func (c Config) checkWays(complain func(format string, args ...any)) {
	if !slices.Contains([]string{"", SignUpClosed, SignUpOpen, SignUpInvitation}, c.SignUp) {
		complain("SignUp: %q is neither closed, open nor invitation", c.SignUp)
	}
	names := map[string]bool{}
	for _, connector := range c.Connectors {
		names[connector.Name()] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.ConnectorSignUp)) {
		switch signUp := c.ConnectorSignUp[name]; {
		case !names[name]:
			complain("ConnectorSignUp: %q is the Name of no Connector", name)
		case !slices.Contains([]string{"", SignUpClosed, SignUpOpen, SignUpInvitation}, signUp):
			complain("ConnectorSignUp: %s: %q is neither closed, open nor invitation", name, signUp)
		case signUp != "" && c.Users.Users != nil && c.Users.Invited == nil:
			complain("ConnectorSignUp: %s: the Users decide by themselves whom Connected makes a user of: give Invited to them",
				name)
		}
	}
}
