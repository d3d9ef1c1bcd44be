package profile

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Path is the page.
const Path = web.AccountPath + "/profile"

// savedPath is the page as it is shown after saving.
const savedPath = Path + "?saved=1"

// The longest texts, in bytes.
const (
	maxText    = 200
	maxPicture = 1024
)

//go:embed profile.html
var files embed.FS

var profilePage = web.Parse(files, "profile")

// Page serves the page of a user's profile.
type Page struct {
	*flow.Steps
	Users      users.ProfileUsers
	Attributes users.AttributeUsers // nil: none is listed
	Listed     []string             // the attributes that users see and change
}

func (p *Page) Routes() []reply.Route {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	return []reply.Route{{Path: Path, Methods: all, Handle: p.serve, Fail: web.FailAccount}}
}

// view holds what the page shows.
type view struct {
	web.View
	In    users.Profile
	Wrong string // the field that the alert is about
	Saved bool

	Attributes []attribute
}

func (p *Page) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return p.save(w, r)
	}
	_, u, err := p.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return p.ShowSignIn(w, r)
	}
	if err != nil {
		return err
	}
	own := view{View: web.ViewOf(u), In: users.ProfileOf(u), Saved: r.URL.Query().Get("saved") == "1",
		Attributes: p.attributes(u, nil)}
	return p.show(w, r, http.StatusOK, own)
}

func (p *Page) show(w http.ResponseWriter, r *http.Request, status int, own view) error {
	t := p.Pages.Context(r, web.AccountPath, storage.App{})
	own.Title = "Your profile"
	if own.Alert != "" {
		own.Alert = t.Lang.T(own.Alert)
	}
	return t.Show(w, status, profilePage, &own)
}

func (p *Page) save(w http.ResponseWriter, r *http.Request) error {
	form, err := p.Pages.ReadFields(w, r, p.fields("name", "nickname", "picture", "gender", "location")...)
	if err != nil {
		return err
	}
	_, u, err := p.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	if err := p.Act(r.Context(), "profile", u.Sub); err != nil {
		return err
	}
	for name, text := range form {
		form[name] = strings.TrimSpace(text)
	}
	return p.saveForm(w, r, u, form)
}

// saveForm saves what a form says of a user, or shows it again.
func (p *Page) saveForm(w http.ResponseWriter, r *http.Request, u storage.User, form map[string]string) error {
	changes, stale := p.changes(form, u)
	own := view{View: web.ViewOf(u), Attributes: p.attributes(u, changes), In: users.Profile{
		Name: form["name"], Nickname: form["nickname"], Picture: form["picture"], Gender: form["gender"],
		Location: form["location"],
	}}
	if stale != "" {
		return p.overtaken(w, r, own, form)
	}
	if own.Wrong, own.Alert = mistake(own.In, users.ProfileOf(u)); own.Alert == "" {
		own.Wrong, own.Alert = mistaken(changes)
	}
	if own.Alert != "" {
		return p.show(w, r, http.StatusBadRequest, own)
	}
	before, err := p.store(r.Context(), u.Sub, own.In, changes)
	switch {
	case errors.Is(err, users.ErrAttributeChanged):
		return p.overtaken(w, r, own, form)
	case errors.Is(err, storage.ErrInvalid):
		own.Alert = unfit(changes)
		return p.show(w, r, http.StatusBadRequest, own)
	case err != nil:
		return err
	}
	if changed := differing(before, own.In, changes); changed != "" {
		if err := p.Trail.WriteNow(r, event.Account, event.Event{User: u.Sub,
			Detail: "profile changed: " + changed}); err != nil {
			return err
		}
	}
	return web.SeeOther(w, savedPath)
}

// mistake returns the first field that is to be filled in differently, and why, in English; "" if none is.
// Fields that were left unchanged are not checked.
func mistake(in, before users.Profile) (field, alert string) {
	for _, text := range []struct{ name, now, before string }{
		{"name", in.Name, before.Name}, {"nickname", in.Nickname, before.Nickname},
		{"location", in.Location, before.Location},
	} {
		if text.now != text.before && (len(text.now) > maxText || !line(text.now)) {
			return text.name, "A name, a nickname and a location are one line of visible characters each: 200 at most, and " +
				"fewer if they are Chinese."
		}
	}
	switch {
	case in.Picture != before.Picture && in.Picture != "" && !isPicture(in.Picture):
		return "picture", "The address of a picture is one such as https://example.com/me.jpg, with up to 1,024 " +
			"characters. Or leave it empty."
	case in.Gender != before.Gender && in.Gender != "" && in.Gender != "male" && in.Gender != "female":
		return "gender", "Choose one of the genders on the page, or leave it open."
	}
	return "", ""
}

// line reports whether a text is one line in which everything is seen.
func line(text string) bool {
	return toolschema.Visible(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// isPicture reports whether a text is an address that applications may show as a picture: of https, without
// a password, and of ASCII, so that it means the same everywhere.
func isPicture(text string) bool {
	u, err := url.Parse(text)
	odd := strings.ContainsFunc(text,
		func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("\\\"<>`", c) })
	return err == nil && !odd && len(text) <= maxPicture && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// differing names the fields in which two profiles differ, and the attributes that have changed.
func differing(before, now users.Profile, changes []users.AttributeChange) string {
	var names []string
	for _, field := range []struct{ name, before, now string }{
		{"name", before.Name, now.Name}, {"nickname", before.Nickname, now.Nickname},
		{"picture", before.Picture, now.Picture},
		{"gender", before.Gender, now.Gender}, {"location", before.Location, now.Location},
	} {
		if field.before != field.now {
			names = append(names, field.name)
		}
	}
	for _, c := range changes {
		names = append(names, "attribute:"+c.Name)
	}
	return strings.Join(names, " ")
}
