package account

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// maxRows bounds each list of the page; the newest are shown. What is not can still be
// ended, with everything.
const maxRows = 100

//go:embed account.html
var files embed.FS

var accountPage = web.Parse(files, "account")

// view holds what the account page shows.
type view struct {
	web.View
	Sessions []sessionRow
	Apps     []appRow
	Logins   []loginRow
	Linkable []web.Link
	Changes  []web.Link // what somebody who is signed in can change
	Revokes  bool       // what ends tokens is offered
}

type sessionRow struct {
	ID, Device, Place string
	Since             web.Moment
	This              bool
	Used              string // the day on which it was last used; "": not known, or the day of Since
}

type appRow struct {
	ID, Name string
	Learns   []consent.Permission // in words; none: it was not asked for
	Since    web.Moment
}

type loginRow struct {
	Method, Label string
	Subjects      string
	Since         web.Moment
	Fixed         bool // cannot be unlinked
}

// show is GET /oauth/account.
func (a *Account) show(w http.ResponseWriter, r *http.Request) error {
	mine, user, err := a.Sessions.Visit(r)
	t := a.Pages.Context(r, web.AccountPath, storage.App{})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	own := view{View: web.ViewOf(user), Revokes: a.Revoker != nil}
	if own.Sessions, err = a.sessionRows(r.Context(), t.Lang, mine); err != nil {
		return err
	}
	if own.Apps, err = a.appRows(r.Context(), t.Lang, user.Sub); err != nil {
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
	own.Title = "Your account"
	own.Away = slices.ContainsFunc(own.Linkable, func(w web.Link) bool { return w.Post })
	own.Changes = slices.DeleteFunc(slices.Clone(a.Changes), func(w web.Link) bool { return slices.Contains(a.Linkable, w) })
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

func (a *Account) sessionRows(ctx context.Context, l page.Lang, mine storage.Session) ([]sessionRow, error) {
	all, err := a.Store.Sessions(ctx, mine.UserID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	all = slices.DeleteFunc(all, func(v storage.Session) bool { return !v.Live(now) })
	slices.SortFunc(all, func(x, y storage.Session) int {
		if (x.ID == mine.ID) != (y.ID == mine.ID) {
			return map[bool]int{true: -1, false: 1}[x.ID == mine.ID]
		}
		return cmp.Or(y.AuthTime.Compare(x.AuthTime), cmp.Compare(x.ID, y.ID))
	})
	var rows []sessionRow
	for _, v := range all[:min(len(all), maxRows)] {
		row := sessionRow{ID: v.ID, Device: web.AgentText(l, v.Agent), Place: v.IP, Since: web.MomentOf(l, v.AuthTime), This: v.ID == mine.ID}
		if used := a.Sessions.LastUsed(v); !used.IsZero() && used.Sub(v.AuthTime) >= time.Hour {
			row.Used = web.DayOf(l, used)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// appRows are the applications that a user has met or consented to, and not parted from since.
func (a *Account) appRows(ctx context.Context, l page.Lang, sub string) ([]appRow, error) {
	consents, err := a.Store.Consents(ctx, sub)
	if err != nil {
		return nil, err
	}
	met, err := a.Store.OpenIDs(ctx, sub)
	if err != nil {
		return nil, err
	}
	since, learns := map[string]time.Time{}, map[string][]consent.Permission{}
	for _, o := range met {
		if o.EndedAt.IsZero() {
			since[o.AppID] = o.CreatedAt
		}
	}
	for _, c := range consents {
		since[c.AppID], learns[c.AppID] = c.CreatedAt, consent.Permissions(c.Scope)
	}
	var rows []appRow
	for id, at := range since {
		app, err := a.Store.App(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			continue // removed, and all it was granted with it
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, appRow{id, cmp.Or(page.BrandOf(app).Name, id), learns[id], web.MomentOf(l, at)})
	}
	slices.SortFunc(rows, func(x, y appRow) int {
		return cmp.Or(cmp.Compare(y.Since.Machine, x.Since.Machine), cmp.Compare(x.ID, y.ID))
	})
	return rows[:min(len(rows), maxRows)], nil
}

// logins are the ways a user has in, one row for each method: what another provider knows
// somebody by is often several ids.
func (a *Account) loginRows(ctx context.Context, l page.Lang, sub string) ([]loginRow, error) {
	all, err := a.Logins.Logins(ctx, sub)
	if err != nil {
		return nil, err
	}
	var rows []loginRow
	for _, login := range all {
		i := slices.IndexFunc(rows, func(row loginRow) bool { return row.Method == login.Method })
		if i < 0 {
			_, keep := splitLogins(all, login.Method)
			rows = append(rows, loginRow{
				Method: login.Method, Label: l.T(a.Labels.Of(login.Method)), Since: web.MomentOf(l, login.CreatedAt),
				Fixed: keep == nil || login.Method == storage.LoginSelf,
			})
			i = len(rows) - 1
		}
		rows[i].Subjects = strings.TrimPrefix(rows[i].Subjects+", "+masked(login), ", ")
	}
	return rows[:min(len(rows), maxRows)], nil
}

// masked is enough of a login for its owner to know it by, and too little for whoever looks
// over their shoulder. A username is shown: it is on the page already.
func masked(login storage.Login) string {
	if login.Method == storage.LoginSelf {
		return login.Subject
	}
	name, host, isAddress := strings.Cut(login.Subject, "@")
	if isAddress {
		first, _ := utf8.DecodeRuneInString(name)
		return string(first) + "•••@" + host
	}
	letters := []rune(login.Subject)
	return "•••" + string(letters[max(len(letters)-min(4, len(letters)/2), 0):])
}
