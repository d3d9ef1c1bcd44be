package signin

import (
	"context"

	"github.com/keystile/keystile/internal/reply"
	erasing "github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/deletion"
	"github.com/keystile/keystile/oauth/signin/internal/mydata"
	"github.com/keystile/keystile/oauth/signin/internal/profile"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// ownData makes the pages on which users change, download and delete what is held about them, links them on
// the account page, and returns their routes.
func (s *SignIn) ownData(c Config, has capabilities, accountPage *account.Account) (routes []reply.Route) {
	if has.profiles != nil {
		accountPage.Profile = web.Link{Path: profile.Path, Label: "Edit your profile"}
		routes = append(routes, (&profile.Page{Steps: s.steps, Users: has.profiles}).Routes()...)
	}
	data := &mydata.Page{Steps: s.steps, Store: c.Store, Logins: has.logins, Base: c.BaseURL}
	data.Owned, _ = c.Store.(mydata.Owned)
	data.Audit, _ = c.Audit.(mydata.Searcher)
	accountPage.Data = append(accountPage.Data, web.Link{Path: mydata.Path, Label: "Download your data"})
	routes = append(routes, data.Routes()...)
	leave := &deletion.Page{Steps: s.steps, Ask: c.DeleteAccount == DeleteAsk, Contact: c.Contact, Download: true}
	if owned, ok := c.Store.(ownedCounter); ok {
		leave.CountOwned = owned.CountOwned
	}
	if c.DeleteAccount == DeleteSelf {
		leave.Erase = c.eraser()
	}
	if leave.Ask || leave.Erase != nil {
		accountPage.Data = append(accountPage.Data, web.Link{Path: deletion.Path, Label: "Delete your account"})
		routes = append(routes, leave.Routes()...)
	}
	return routes
}

// ownedCounter knows how much users own; *storage.Store implements it.
type ownedCounter interface {
	CountOwned(ctx context.Context, sub string) (apps, capabilities int, err error)
}

// eraser returns what erases a user, nil if nothing can: without a Revoker what a user was granted would
// outlive them, and of a host's own table only the host can remove somebody.
func (c Config) eraser() deletion.Eraser {
	store, ok := c.Store.(erasing.EraseStore)
	if !ok || c.Revoker == nil {
		return nil
	}
	switch table := c.Users.(type) {
	case users.ErasableUsers:
		return deletion.Hosted(table, store, c.Revoker.Revoke)
	case *users.StoreUsers:
		if same, ok := c.Store.(*storage.Store); ok && !table.Reads(same) {
			return nil // they are in another store
		}
		return deletion.Stored(store, c.Revoker.Revoke)
	}
	return nil
}
