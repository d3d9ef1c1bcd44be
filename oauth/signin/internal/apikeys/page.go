package apikeys

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

// The paths of the page, and of the form that revokes a key.
const (
	Path    = web.AccountPath + "/keys"
	EndPath = Path + "/end"
)

//go:embed keys.html made.html
var files embed.FS

var (
	keysPage = web.Parse(files, "keys")
	madePage = web.Parse(files, "made")
)

// Store keeps API keys; *storage.Store implements it.
type Store interface {
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	RemoveAPIKey(ctx context.Context, id string) error
}

// revoker ends tokens.
type revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// Page serves the page of a user's API keys.
type Page struct {
	*flow.Steps
	Store   Store
	Revoker revoker
}

func (p *Page) Routes() []reply.Route {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	return []reply.Route{
		{Path: Path, Methods: all, Handle: p.serve, Fail: web.FailAccount},
		{Path: EndPath, Methods: all[2:], Handle: p.end, Fail: web.FailAccount},
	}
}

// view holds what the page shows.
type view struct {
	web.View
	Keys    []row
	Confirm bool // a key can be made after another sign-in
	Full    bool // no more keys can be made
	In      wanted
	Most    string // keys of one user
}

// row is a key in the list.
type row struct {
	ID, Name    string
	Opens       []permission
	Made        web.Moment
	Until, Used string // days; Used "": never
}

func (p *Page) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return p.make(w, r)
	}
	v, u, err := p.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		t := p.Pages.Context(r, web.AccountPath, storage.App{})
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	return p.show(w, r, v, u, http.StatusOK, wanted{What: everything, Days: defaultDays}, "")
}

// show shows the keys of a user and the form, with what was typed and why it is not enough.
func (p *Page) show(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, status int, in wanted,
	alert string) error {
	t := p.Pages.Context(r, web.AccountPath, storage.App{})
	all, err := p.Store.APIKeys(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	fresh, _, err := p.Second.Fresh(r.Context(), v)
	if err != nil {
		return err
	}
	own := view{View: web.ViewOf(u), Keys: rows(t.Lang, all), Confirm: !fresh, In: in, Most: strconv.Itoa(apikey.MaxLive)}
	own.Title, own.Full = "API keys", len(own.Keys) >= apikey.MaxLive
	if alert != "" {
		own.Alert = t.Lang.T(alert)
	}
	return t.Show(w, status, keysPage, &own)
}

// rows returns the keys that are valid, the newest first.
func rows(l page.Lang, all []apikey.Key) (rows []row) {
	now := time.Now()
	slices.SortFunc(all, func(x, y apikey.Key) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	for _, k := range all {
		if !k.Live(now) {
			continue
		}
		one := row{ID: k.ID, Name: k.Name, Opens: permissions(k.Scope), Made: web.MomentOf(l, k.CreatedAt),
			Until: web.DayOf(l, k.ExpiresAt)}
		if !k.UsedAt.IsZero() {
			one.Used = web.DayOf(l, k.UsedAt)
		}
		rows = append(rows, one)
	}
	return rows
}
