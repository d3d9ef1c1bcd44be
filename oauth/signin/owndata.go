package signin

import (
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/deletion"
	"github.com/keystile/keystile/oauth/signin/internal/mydata"
	"github.com/keystile/keystile/oauth/signin/internal/profile"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage/claim"
)

// ownData makes the pages on which users change, download and delete what is held about them, links them on
// the account page, and returns their routes.
func (s *SignIn) ownData(c Config, has users.Host, accountPage *account.Account) (routes []reply.Route) {
	if has.Profiles != nil {
		accountPage.Profile = web.Link{Path: profile.Path, Label: "Edit your profile"}
		own := &profile.Page{Steps: s.steps, Users: has.Profiles, Attributes: has.Attributes, Listed: c.ProfileAttributes}
		routes = append(routes, own.Routes()...)
	}
	data := &mydata.Page{Steps: s.steps, Store: c.Store, Owned: c.Store, Logins: has.Logins, Audit: c.Records,
		Base: c.BaseURL}
	accountPage.Data = append(accountPage.Data, web.Link{Path: mydata.Path, Label: "Download your data"})
	routes = append(routes, data.Routes()...)
	leave := &deletion.Page{Steps: s.steps, Ask: c.DeleteAccount == DeleteAsk, Contact: c.Contact, Download: true,
		CountOwned: c.Store.CountOwned}
	if c.DeleteAccount == DeleteSelf {
		leave.Erase = c.eraser()
	}
	if leave.Ask || leave.Erase != nil {
		accountPage.Data = append(accountPage.Data, web.Link{Path: deletion.Path, Label: "Delete your account"})
		routes = append(routes, leave.Routes()...)
	}
	return routes
}

// eraser returns what erases a user, nil if nothing can: without a Revoker what a user was granted would
// outlive them, and of a host's own table only the host can remove a person.
func (c Config) eraser() deletion.Eraser {
	switch {
	case c.Revoker == nil:
		return nil
	case c.Users.Erasable != nil:
		return deletion.Hosted(c.Users.Erasable, c.Store, c.Revoker.Revoke)
	case c.Users.In(c.Store):
		return deletion.Stored(c.Store, c.Revoker.Revoke)
	}
	return nil
}

// checkProfile complains about what ProfileAttributes lists and no user can change.
func (c Config) checkProfile(complain func(format string, args ...any)) {
	if err := claim.CheckAttributeNames(c.ProfileAttributes); err != nil {
		complain("ProfileAttributes: %w", err)
	}
	if c.Users.Users != nil && len(c.ProfileAttributes) > 0 && (c.Users.Attributes == nil || c.Users.Profiles == nil) {
		complain("ProfileAttributes: the Users change none: give Attributes and Profiles to them")
	}
}
