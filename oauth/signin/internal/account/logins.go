package account

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

type loginRow struct {
	Method, Label string
	Subjects      string
	Since         web.Moment
	Fixed         bool // cannot be unlinked
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
