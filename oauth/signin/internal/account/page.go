package account

import (
	"embed"
	"errors"
	"net/http"
	"slices"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// maxRows bounds each list of the page; the newest are shown. The others can be ended only
// together, by signing out everywhere.
const maxRows = 100

//go:embed account.html
var files embed.FS

//go:embed times.js
var times []byte

var accountPage = web.Parse(files, "account")

// view holds what the account page shows.
type view struct {
	web.View
	Since    web.Moment // when the user signed in here
	Way      string     // by which method
	Warnings []Warning
	Profile  web.Link
	Console  string // "": it is not theirs
	Sessions []sessionRow
	Apps     []appRow
	Agents   []appRow
	Logins   []loginRow
	Linkable []web.Link
	Changes  []web.Link // pages where the user changes something
	Data     []web.Link
	Revokes  bool // actions that end tokens are offered
}

func (a *Account) show(w http.ResponseWriter, r *http.Request) error {
	mine, user, err := a.Sessions.Visit(r)
	t := a.Pages.Context(r, web.AccountPath, storage.App{})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	own := view{
		View: web.ViewOf(user), Since: web.MomentOf(t.Lang, mine.AuthTime), Way: t.Lang.T(a.methodOf(mine)),
		Profile: a.Profile, Data: a.Data, Revokes: a.Revoker != nil,
	}
	if user.Role != "" {
		own.Console = a.Console
	}
	for _, warn := range a.Warnings {
		more, err := warn(r.Context(), user)
		if err != nil {
			return err
		}
		own.Warnings = append(own.Warnings, more...)
	}
	if own.Sessions, err = a.sessionRows(r.Context(), t.Lang, mine, a.Peer(r)); err != nil {
		return err
	}
	if own.Apps, own.Agents, err = a.appRows(r.Context(), t.Lang, user.Sub); err != nil {
		return err
	}
	if own.Logins, err = a.loginRows(r.Context(), t.Lang, user.Sub); err != nil {
		return err
	}
	for _, w := range a.Linkable {
		linked := func(row loginRow) bool { return w.Path == web.WithPath+row.Method+"/link" }
		if !slices.ContainsFunc(own.Logins, linked) {
			own.Linkable = append(own.Linkable, w)
		}
	}
	own.Title, own.Scripted, own.Wide = "Your account", true, true
	own.Away = slices.ContainsFunc(own.Linkable, func(w web.Link) bool { return w.Post })
	own.Changes = slices.DeleteFunc(slices.Clone(a.Changes),
		func(w web.Link) bool { return slices.Contains(a.Linkable, w) })
	if a.HasPassword != nil {
		has, err := a.HasPassword(r.Context(), user.Sub)
		if err != nil {
			return err
		}
		if has {
			own.Changes = append(own.Changes, a.Password)
		}
	}
	return t.Show(w, http.StatusOK, accountPage, &own)
}
