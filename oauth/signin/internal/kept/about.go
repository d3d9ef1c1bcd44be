package kept

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/formwords"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/sealbox"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Act says what a form of an account does, in English.
type Act string

// told says what a form of an account does that was refused with an error: as that says, or else by its path and its
// fields.
func (k *Forms) told(r *http.Request, refused error, body []byte) web.About {
	if of := new(session.Stale); errors.As(refused, &of) {
		return of.About
	}
	lang := page.LangOf(r, "")
	about := web.About{What: r.URL.Path}
	if act, ok := k.Acts[r.URL.Path]; ok {
		about.What = lang.T(string(act))
	}
	fields, _ := url.ParseQuery(string(body)) // what cannot be read is not there, and does nothing
	about.Fields = formwords.Of(fields, func(name string) string { return lang.T(name) })
	return about
}

// sealAbout seals what is told of a form. The id of the form opens it, which the address of a page has and the store
// has not: the page that asks who a person is shows it, where no cookie of the form is sent.
func sealAbout(about web.About, at place, key storage.Secret) (string, error) {
	plain, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	box, err := sealbox.New(key, "about "+at.ID, at)
	if err != nil {
		return "", err
	}
	return base64.RawStdEncoding.EncodeToString(box.Seal(plain)), nil
}

func openAbout(told string, at place, key storage.Secret) (about web.About, err error) {
	sealed, err := base64.RawStdEncoding.DecodeString(told)
	if err != nil {
		return about, errGone
	}
	box, err := sealbox.New(key, "about "+at.ID, at)
	if err != nil {
		return about, err
	}
	plain, err := box.Open(sealed)
	if err != nil {
		return about, errGone
	}
	return about, json.Unmarshal(plain, &about)
}

func (k *Forms) about(r *http.Request, u storage.User, id, path string) (about web.About, err error) {
	t, err := k.waiting(r, u, id, path)
	if err != nil {
		return about, err
	}
	key, err := k.Store.HMACKey(r.Context(), "kept forms")
	if err != nil {
		return about, err
	}
	return openAbout(t.State, place{id, u.Sub, path}, key)
}

// About describes what the kept form of a page does, for a browser that has the address of that page. If that
// cannot be read now, it returns nothing: the page from which the form is sent says it, or fails.
func (k *Forms) About(r *http.Request, query string) web.About {
	id, to, ok := web.ReadGoOn(query)
	at, err := url.ParseRequestURI(to)
	if !ok || err != nil {
		return web.About{}
	}
	t, err := k.Store.Ticket(r.Context(), ticketID(id))
	if err != nil {
		return web.About{}
	}
	about, err := k.about(r, storage.User{Sub: t.UserID}, id, at.Path)
	if err != nil {
		return web.About{}
	}
	return about
}
