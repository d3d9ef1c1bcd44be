package passkey

import (
	"embed"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/event"
)

//go:embed passkeys.html
var files embed.FS

var passkeysPage = web.Parse(files, "passkeys")

const maxName = 100 // bytes

// view holds what the page shows.
type view struct {
	web.View
	Passkeys  []row
	Confirm   bool // they can be changed after another sign-in
	Full      bool
	Most      string
	Suggested string // a name
}

// row is a passkey in the list.
type row struct {
	ID, Name string
	Synced   bool
	Made     web.Moment
	Used     string // a day; "": never
}

func (s *Passkeys) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.add(w, r)
	}
	v, u, err := s.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		t := s.Pages.Context(r, web.AccountPath, storage.App{})
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	return s.show(w, r, v, u, http.StatusOK, "")
}

// show shows the passkeys of a user, and what is to be done differently.
func (s *Passkeys) show(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, status int, alert string) error {
	t := s.Pages.Context(r, web.AccountPath, storage.App{})
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	own := view{
		View: web.ViewOf(u), Passkeys: rows(t.Lang, f.Passkeys), Confirm: !session.Recent(v), Full: len(f.Passkeys) >= authn.MaxPasskeys,
		Most: strconv.Itoa(authn.MaxPasskeys), Suggested: web.AgentText(t.Lang, web.AgentOf(r)),
	}
	own.Title, own.Live = "Passkeys", !own.Confirm && !own.Full
	if alert != "" {
		own.Alert = t.Lang.T(alert)
	}
	return t.Show(w, status, passkeysPage, &own)
}

func rows(l page.Lang, all []authn.Passkey) (rows []row) {
	for _, p := range all {
		one := row{ID: p.ID, Name: p.Name, Synced: p.Synced, Made: web.MomentOf(l, p.CreatedAt)}
		if !p.UsedAt.IsZero() {
			one.Used = web.DayOf(l, p.UsedAt)
		}
		rows = append(rows, one)
	}
	return rows
}

// change begins a form that changes the passkeys: it takes a recent sign-in. If done, the request is answered.
func (s *Passkeys) change(w http.ResponseWriter, r *http.Request, names ...string) (in map[string]string, v storage.Session, u storage.User, done bool, err error) {
	if err = s.Pages.CheckOrigin(r); err == nil {
		in, err = web.ReadFields(w, r, names...)
	}
	if err != nil {
		return in, v, u, true, err
	}
	v, u, err = s.Sessions.Recent(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return in, v, u, true, web.SeeOther(w, Path) // it asks them to sign in
	case errors.Is(err, session.ErrStale):
		return in, v, u, true, s.ShowSignInAgain(w, r, u)
	}
	return in, v, u, err != nil, err
}

// nameOf returns a name as it was typed, "" if it is none.
func nameOf(typed string) string {
	name := strings.TrimSpace(typed)
	if len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

func (s *Passkeys) rename(w http.ResponseWriter, r *http.Request) error {
	in, v, u, done, err := s.change(w, r, "passkey", "name")
	if done {
		return err
	}
	name := nameOf(in["name"])
	if name == "" {
		return s.show(w, r, v, u, http.StatusBadRequest, "Give the passkey a name. It has 100 letters at most, and fewer if they are Chinese.")
	}
	return s.changed(w, r, u, "Passkey renamed", name, func(f *storage.Factors) error {
		p := f.Passkey(in["passkey"])
		if p == nil {
			return storage.ErrNotFound
		}
		named := *p
		named.Name = name
		f.Passkeys = replace(f.Passkeys, named)
		return nil
	})
}

// end removes a passkey. Browsers that were trusted are trusted no longer.
func (s *Passkeys) end(w http.ResponseWriter, r *http.Request) error {
	in, _, u, done, err := s.change(w, r, "passkey")
	if done {
		return err
	}
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	name := ""
	if p := f.Passkey(in["passkey"]); p != nil {
		name = p.Name
	}
	return s.changed(w, r, u, "Passkey removed", name, func(f *storage.Factors) error {
		if f.Passkey(in["passkey"]) == nil {
			return storage.ErrNotFound
		}
		var left []authn.Passkey
		for _, p := range f.Passkeys {
			if p.ID != in["passkey"] {
				left = append(left, p)
			}
		}
		f.Passkeys = left
		f.Epoch++
		return nil
	})
}

// changed changes the passkeys of a user, tells them and the trail, and shows the page again.
func (s *Passkeys) changed(w http.ResponseWriter, r *http.Request, u storage.User, what, name string, change func(f *storage.Factors) error) error {
	before := ""
	f, err := s.Factors.Change(r.Context(), u.Sub, func(f *storage.Factors) error {
		before = namesOf(f.Passkeys)
		return change(f)
	})
	if errors.Is(err, storage.ErrNotFound) { // it is gone
		return web.SeeOther(w, Path)
	}
	if err != nil {
		return err
	}
	s.Notices.Notify(r.Context(), u.Sub, s.Notices.FromRequest(r, event.NoticeAccount, what+": "+name))
	if err := s.Trail.Changed(r, u.Sub, strings.ToLower(what), before, namesOf(f.Passkeys)); err != nil {
		return err
	}
	to := Path
	if s.Codes != "" && len(f.Passkeys) == 1 && f.CodesLeft() == 0 {
		to = s.Codes
	}
	return web.SeeOther(w, to)
}

// namesOf names passkeys for the trail.
func namesOf(all []authn.Passkey) string {
	if len(all) == 0 {
		return "none"
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = strconv.Quote(p.Name)
	}
	return strings.Join(names, " ")
}
