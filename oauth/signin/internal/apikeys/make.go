package apikeys

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/event"
)

// Values of the form for the tools that a key opens.
const (
	everything = "all"
	reading    = "read"
	some       = "some" // those that are named
)

// Days for which a key is valid.
const (
	defaultDays = "90"
	mostDays    = 365
)

// wanted is the form as it was filled in.
type wanted struct {
	Name, What, Some, Days string
	Identity               bool
}

// made shows a key, once.
type made struct {
	web.View
	Key, Name, Until string
	Opens            []permission
}

func (p *Page) make(w http.ResponseWriter, r *http.Request) error {
	form, err := p.Pages.ReadFields(w, r, "name", "what", "some", "identity", "days")
	if err != nil {
		return err
	}
	v, u, _, err := p.VisitFresh(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	in := wanted{Name: strings.TrimSpace(form["name"]), What: form["what"], Some: form["some"], Days: form["days"],
		Identity: form["identity"] != ""}
	alert := in.mistake()
	if alert == "" {
		alert, err = p.makeFor(w, r, u, in)
	}
	if alert == "" {
		return err
	}
	return p.show(w, r, v, u, http.StatusBadRequest, in, alert)
}

// mistake returns what is to be filled in differently, "" if nothing is.
func (in wanted) mistake() string {
	days, err := strconv.Atoi(in.Days)
	switch {
	case in.Name == "" || len(in.Name) > apikey.MaxName || strings.ContainsFunc(in.Name, unicode.IsControl):
		return "Give the key a name, such as the program that will use it. It has 100 letters at most, and fewer if they " +
			"are Chinese."
	case in.What == some && !in.named():
		return "Name the tools that the key is for, such as shop, shop/getPet or b:support."
	case !slices.Contains([]string{everything, reading, some}, in.What):
		return "Choose what the key may do."
	case err != nil || days < 1 || days > mostDays:
		return "A key is valid for 1 to 365 days."
	}
	return ""
}

// named reports whether Some names tools, and nothing else.
func (in wanted) named() bool {
	names := strings.Fields(in.scope())
	return scope.HasTools(in.scope()) && len(in.scope()) <= apikey.MaxScope &&
		!slices.ContainsFunc(names, func(name string) bool { return !scope.OfKeys(name) })
}

func (in wanted) scope() string {
	var names []string
	switch in.What {
	case everything:
		names = append(names, scope.Tools)
	case reading:
		names = append(names, scope.ReadOnlyTools)
	case some:
		for _, name := range strings.FieldsFunc(in.Some,
			func(r rune) bool { return r == ',' || r == '，' || unicode.IsSpace(r) }) {
			names = append(names, scope.Member(strings.TrimPrefix(name, scope.Member(""))))
		}
	}
	if in.Identity {
		names = append(names, scope.OpenID, scope.Profile, scope.Email)
	}
	return strings.Join(names, " ")
}

// makeFor makes a key and shows it. It returns what the user is to do first, "" if nothing.
func (p *Page) makeFor(w http.ResponseWriter, r *http.Request, u storage.User, in wanted) (alert string, err error) {
	days, _ := strconv.Atoi(in.Days) // it has been checked
	text, k, err := apikeys.Make(r.Context(), p.Store, u.Sub, in.Name, in.scope(), time.Duration(days)*24*time.Hour)
	switch {
	case errors.Is(err, apikey.ErrTooMany):
		return "You have as many keys as there may be. Revoke one that is not needed, then make this one.", nil
	case errors.Is(err, storage.ErrConflict): // they were signed out everywhere meanwhile
		return "", web.SeeOther(w, web.AccountPath)
	case err != nil:
		return "", err
	}
	if err := p.Trail.WriteNow(r, event.Account, event.Event{User: u.Sub, Status: http.StatusOK,
		Detail: "API key made: " + k.ID + " " + k.Scope}); err != nil {
		return "", errors.Join(err, p.Store.RemoveAPIKey(r.Context(), k.ID))
	}
	p.Notices.Notify(r.Context(), u.Sub, p.Notices.FromRequest(r, event.NoticeAccount, "API key made: "+k.Name))
	t := p.Pages.Context(r, web.AccountPath, storage.App{})
	own := made{View: web.ViewOf(u), Key: text, Name: k.Name, Until: web.DayOf(t.Lang, k.ExpiresAt),
		Opens: permissions(k.Scope)}
	own.Title = "Your new API key"
	return "", t.Show(w, http.StatusOK, madePage, &own)
}

// end serves the form that revokes one of the sender's keys. It takes no fresh sign-in: what ends a key must not wait.
func (p *Page) end(w http.ResponseWriter, r *http.Request) error {
	form, err := p.Pages.ReadFields(w, r, "key")
	if err != nil {
		return err
	}
	v, err := p.Sessions.Visitor(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	all, err := p.Store.APIKeys(r.Context(), v.UserID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(k apikey.Key) bool { return k.ID == form["key"] })
	if i < 0 {
		return web.SeeOther(w, Path)
	}
	k := all[i]
	if err := apikeys.End(r.Context(), p.Store, p.Revoker.Revoke, k.ID); err != nil {
		return err
	}
	p.Notices.Notify(r.Context(), v.UserID, p.Notices.FromRequest(r, event.NoticeAccount, "API key revoked: "+k.Name))
	if err := p.Trail.WriteNow(r, event.Revocation, event.Event{User: v.UserID, App: storage.KeysAppID,
		Detail: "API key revoked: " + k.ID}); err != nil {
		return err
	}
	return web.SeeOther(w, Path)
}
