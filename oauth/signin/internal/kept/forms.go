package kept

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

const (
	kind = "kept form"
	life = stepup.MaxAge
	part = 8 // letters of the id of a form that the name of its cookie has, so that several forms can be kept at a time
)

// errNotKept says that a form is too large to be kept, or that its user has as many kept as there may be.
var errNotKept = errors.New("kept: the form cannot be kept")

// errGone says that a form is not kept any more, or is not this user's in this browser.
var errGone = errors.New("kept: there is no such form")

// Store keeps tickets and the key that they are sealed with; *storage.Store implements it.
type Store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// Forms keeps forms.
type Forms struct {
	*flow.Steps
	Store  Store
	Secure bool           // the cookies are for https alone
	Acts   map[string]Act // by the path that a form is sent to; a form without one is told by its path
}

// The reasons why a user is asked, in English.
const (
	whyKept    = "Changes need a sign-in of the last ten minutes. What you typed is kept."
	whyNotKept = "Changes need a sign-in of the last ten minutes. What you typed could not be kept: go back in your " +
		"browser afterwards, and send it once more."
)

// Ask answers a form of a signed-in user that takes a fresh sign-in: it keeps the form, whose body this is and which
// was shown in a session, and asks the user to confirm who they are, and that they want what the form is about.
// Everything else about the form has been checked.
func (k *Forms) Ask(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, session string,
	body []byte, about web.About) error {
	to, why := addressOf(r), whyKept
	id, err := k.keep(w, r, u, form{session, r.Header.Get("Content-Type"), body}, about)
	query := web.GoOn(id, to)
	if errors.Is(err, errNotKept) {
		if query, why = web.AccountPath, whyNotKept; web.IsConsole(to) {
			query = to
		}
	} else if err != nil {
		return err
	}
	return k.Second.Confirm(w, r, v, u, query, why)
}

// addressOf returns the address that a form was sent to, without its query where that is too long to be carried.
func addressOf(r *http.Request) string {
	if to := withoutKept(r.URL); web.TakesKept(to) {
		return to
	}
	return r.URL.EscapedPath()
}

func withoutKept(u *url.URL) string {
	query := u.Query()
	if query.Del(web.ParamKept); len(query) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + query.Encode()
}

// keep stores a form, and returns its id. With errNotKept nothing is stored.
func (k *Forms) keep(w http.ResponseWriter, r *http.Request, u storage.User, f form,
	about web.About) (id string, err error) {
	if k.Rates.Acts.Take(r.Context(), kind+" "+u.Sub) > 0 {
		return "", errNotKept
	}
	key, err := k.Store.HMACKey(r.Context(), "kept forms")
	if err != nil {
		return "", err
	}
	id, secret, now := handle.NewCookie(), handle.NewCookie(), time.Now().UTC()
	sealed, err := seal(f, place{id, u.Sub, r.URL.Path}, key, secret)
	if err != nil {
		return "", err
	}
	told, err := sealAbout(about, place{id, u.Sub, r.URL.Path}, key)
	if err != nil {
		return "", err
	}
	_, err = k.Store.SaveTicket(r.Context(), storage.Ticket{
		ID: ticketID(id), Kind: kind, UserID: u.Sub, Query: r.URL.Path, Proof: sealed, State: told, CreatedAt: now,
		ExpiresAt: now.Add(life),
	})
	if err == nil {
		k.setCookie(w, r, id, secret, int(life/time.Second))
	}
	return id, err
}

func ticketID(id string) string { return handle.Hash(kind + ":" + id) }

// setCookie sets the cookie of a form, for the address of the form alone.
func (k *Forms) setCookie(w http.ResponseWriter, r *http.Request, id, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookies.Kept + id[:part], Value: value, Path: r.URL.EscapedPath(), MaxAge: age,
		HttpOnly: true, Secure: k.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// Take puts the form that a request names into the request, as if it had just been sent, and uses it up. It returns the
// session that the form was shown in. A request that names none stays as it is, and session is empty. The caller
// has checked the origin of the request.
func (k *Forms) Take(w http.ResponseWriter, r *http.Request) (session string, err error) {
	if !r.URL.Query().Has(web.ParamKept) {
		return "", nil
	}
	_, u, err := k.Sessions.Visit(r)
	if err != nil {
		return "", err
	}
	id := r.URL.Query().Get(web.ParamKept)
	f, err := k.take(r, u, id)
	if errors.Is(err, errGone) {
		return "", web.KeptGone
	}
	if err != nil {
		return "", err
	}
	k.setCookie(w, r, id, "", -1)
	r.Header.Set("Content-Type", f.Type)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(f.Body)), int64(len(f.Body))
	query := r.URL.Query()
	query.Del(web.ParamKept)
	r.URL.RawQuery = query.Encode()
	return f.Session, nil
}

// waiting returns the ticket of a form that a user sent to a path. Its id alone says that: nobody else has seen it.
func (k *Forms) waiting(r *http.Request, u storage.User, id, path string) (storage.Ticket, error) {
	if !web.IsCookie(id) {
		return storage.Ticket{}, errGone
	}
	t, err := k.Store.Ticket(r.Context(), ticketID(id))
	theirs := t.Kind == kind && t.UserID == u.Sub && t.Query == path
	if errors.Is(err, storage.ErrNotFound) || err == nil && !(theirs && t.Live(time.Now())) {
		err = errGone
	}
	return t, err
}

// take reads a form and ends its ticket. A caller that may not read it does not end it.
func (k *Forms) take(r *http.Request, u storage.User, id string) (f form, err error) {
	t, err := k.waiting(r, u, id, r.URL.Path)
	if err != nil {
		return f, err
	}
	halves := r.CookiesNamed(cookies.Kept + id[:part])
	if len(halves) != 1 || !web.IsCookie(halves[0].Value) {
		return f, errGone
	}
	key, err := k.Store.HMACKey(r.Context(), "kept forms")
	if err != nil {
		return f, err
	}
	if f, err = open(t.Proof, place{id, u.Sub, r.URL.Path}, key, halves[0].Value); err != nil {
		return f, err
	}
	err = k.Store.EndTicket(r.Context(), t)
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) { // another request was first
		err = errGone
	}
	return f, err
}
