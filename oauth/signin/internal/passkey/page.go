package passkey

import (
	"embed"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
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
		return s.ShowSignIn(w, r)
	case err != nil:
		return err
	}
	return s.show(w, r, v, u, http.StatusOK, "")
}

func (s *Passkeys) show(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, status int,
	alert string) error {
	t := s.Pages.Context(r, web.AccountPath, storage.App{})
	f, err := s.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	own := view{
		View: web.ViewOf(u), Passkeys: rows(t.Lang, f.Passkeys), Confirm: !factor.Fresh(v, f),
		Full: len(f.Passkeys) >= authn.MaxPasskeys,
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

// request is a form of a signed-in user whose sign-in is recent.
type request struct {
	v  storage.Session
	u  storage.User
	in map[string]string
}

// change begins a form that changes the passkeys: it requires a recent sign-in, in which users with a second factor
// must have used it. If done, the request is answered.
func (s *Passkeys) change(w http.ResponseWriter, r *http.Request, names ...string) (q request, done bool, err error) {
	if q.in, err = s.Pages.ReadFields(w, r, names...); err != nil {
		return q, true, err
	}
	q.v, q.u, _, err = s.VisitFresh(r)
	if errors.Is(err, storage.ErrNotFound) {
		return q, true, web.SeeOther(w, Path) // it asks them to sign in
	}
	return q, err != nil, err
}

const badName = "Give the passkey a name. It has 100 letters at most, and fewer if they are Chinese."

// nameOf returns a name as it was typed, "" if it is none.
func nameOf(typed string) string {
	name := strings.TrimSpace(typed)
	if len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

// rename gives a passkey another name.
func (s *Passkeys) rename(w http.ResponseWriter, r *http.Request) error {
	q, done, err := s.change(w, r, "passkey", "name")
	if done {
		return err
	}
	name := nameOf(q.in["name"])
	if name == "" {
		return s.show(w, r, q.v, q.u, http.StatusBadRequest, badName)
	}
	_, err = s.changed(r, q, "Passkey renamed", name, func(f *storage.Factors) error {
		p := f.Passkey(q.in["passkey"])
		if p == nil {
			return storage.ErrNotFound
		}
		named := *p
		named.Name = name
		f.Passkeys = replace(f.Passkeys, named)
		return nil
	})
	return s.after(w, err)
}

// errLast says that a passkey is the only second factor of a user of whom one is required.
var errLast = errors.New("passkey: it is the last factor")

// end removes a passkey. Browsers that were trusted are trusted no longer.
func (s *Passkeys) end(w http.ResponseWriter, r *http.Request) error {
	q, done, err := s.change(w, r, "passkey")
	if done {
		return err
	}
	f, err := s.Store.Factors(r.Context(), q.u.Sub)
	if err != nil {
		return err
	}
	name := ""
	if p := f.Passkey(q.in["passkey"]); p != nil {
		name = p.Name
	}
	_, err = s.changed(r, q, "Passkey removed", name, func(f *storage.Factors) error {
		if f.Passkey(q.in["passkey"]) == nil {
			return storage.ErrNotFound
		}
		f.Passkeys = slices.DeleteFunc(slices.Clone(f.Passkeys),
			func(p authn.Passkey) bool { return p.ID == q.in["passkey"] })
		if !s.Factors.Keeps(q.u, *f) {
			return errLast
		}
		if !f.Any() {
			f.Recovery = nil // codes without a factor are worth nothing
		}
		f.Epoch++
		return nil
	})
	if errors.Is(err, errLast) {
		return s.show(w, r, q.v, q.u, http.StatusBadRequest,
			"A second factor is required of you, and this is your only one. Add another one first.")
	}
	return s.after(w, err)
}

// after shows the page again after a change. It needs no confirmation of a passkey that is gone.
func (s *Passkeys) after(w http.ResponseWriter, err error) error {
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return web.SeeOther(w, Path)
}

// changed changes the passkeys of a user, and tells them and the trail. A session that does not prove a factor
// which has been added since it was looked at changes nothing: storage.ErrNotFound.
func (s *Passkeys) changed(r *http.Request, q request, what, name string,
	change func(f *storage.Factors) error) (storage.Factors, error) {
	before := ""
	f, err := s.Factors.Change(r.Context(), q.u.Sub, func(f *storage.Factors) error {
		if before = namesOf(f.Passkeys); !factor.Fresh(q.v, *f) {
			return storage.ErrNotFound
		}
		return change(f)
	})
	if err != nil {
		return f, err
	}
	s.Notices.Notify(r.Context(), q.u.Sub, s.Notices.FromRequest(r, event.NoticeAccount, what+": "+name))
	return f, s.Trail.Changed(r, q.u.Sub, strings.ToLower(what), before, namesOf(f.Passkeys))
}

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
