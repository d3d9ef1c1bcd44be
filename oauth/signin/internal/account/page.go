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

// maxRows bounds each list of the page; the newest are shown. The others can be ended only
// together, by signing out everywhere.
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
	Changes  []web.Link // pages where the user changes something
	Revokes  bool       // actions that end tokens are offered
	Due      string     // the day on which a second factor is due; "": none is
}

type sessionRow struct {
	ID, Device, Place string
	Since             web.Moment
	This              bool
	Used              string // the day on which it was last used; "": not known, or the day of Since
}

type appRow struct {
	ID, Name string               // of a Client its host; "" if it has none
	Learns   []consent.Permission // none: consent was not needed
	Since    web.Moment
	Client   *consent.Stranger // nil: it was registered here
	Allowed  string            // the day on which it was last allowed something; "": the day of Since, or never
}

type loginRow struct {
	Method, Label string
	Subjects      string
	Since         web.Moment
	Fixed         bool // cannot be unlinked
}

// show serves GET /oauth/account.
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
	if a.Due != nil {
		due, err := a.Due(r.Context(), user)
		if err != nil {
			return err
		}
		if !due.IsZero() {
			own.Due = web.DayOf(t.Lang, due)
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

// appRows returns the applications that a user has signed in or consented to, and not removed since.
func (a *Account) appRows(ctx context.Context, l page.Lang, sub string) ([]appRow, error) {
	consents, err := a.Store.Consents(ctx, sub)
	if err != nil {
		return nil, err
	}
	met, err := a.Store.OpenIDs(ctx, sub)
	if err != nil {
		return nil, err
	}
	since, given := map[string]time.Time{}, map[string]storage.Consent{}
	for _, o := range met {
		if o.EndedAt.IsZero() {
			since[o.AppID] = o.CreatedAt
		}
	}
	for _, c := range consents {
		since[c.AppID], given[c.AppID] = c.CreatedAt, c
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
		row := appRow{ID: id, Name: page.BrandOf(app).Name, Since: web.MomentOf(l, at), Client: consent.StrangerOf(app)}
		if row.Client == nil {
			row.Name = cmp.Or(row.Name, id)
		}
		if c, ok := given[id]; ok {
			row.Learns = consent.Permissions(c.Scope)
			if c.UpdatedAt.Sub(c.CreatedAt) >= time.Hour {
				row.Allowed = web.DayOf(l, c.UpdatedAt)
			}
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(x, y appRow) int {
		return cmp.Or(cmp.Compare(y.Since.Machine, x.Since.Machine), cmp.Compare(x.ID, y.ID))
	})
	return rows[:min(len(rows), maxRows)], nil
}

// loginRows returns a user's sign-in methods, one row for each: a provider often has several ids
// of a user.
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

// masked returns enough of a login for its owner to recognise it, and too little for an onlooker.
// A username is shown: it is on the page already.
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
