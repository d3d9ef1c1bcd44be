package device

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// answer takes a user's answer to exactly the device that they were shown.
func (d *Devices) answer(w http.ResponseWriter, r *http.Request, who storage.Session, user storage.User, code string,
	in map[string]string, picks []string) error {
	switch {
	case in["allow"] != "" && in["deny"] != "", !isTicketID(in["ticket"]):
		return web.NotAForm
	case in["user"] != user.Sub: // another person has signed in here meanwhile, and was shown nothing
		return web.SeeOther(w, web.DeviceLink(code))
	}
	t, err := d.Store.Ticket(r.Context(), in["ticket"])
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (t.Kind != kind || !t.Live(now()) || t.State != pending):
		return d.showCode(w, r, http.StatusBadRequest, user, "", endedText)
	case err != nil:
		return err
	case in["deny"] != "":
		return d.deny(w, r, user, t)
	}
	return d.allow(w, r, who, user, t, code, in, picks)
}

// deny takes the ticket to denied. Of a yes and a no at once one is taken, and the other is told so.
func (d *Devices) deny(w http.ResponseWriter, r *http.Request, user storage.User, t storage.Ticket) error {
	t.State, t.UserID = denied, user.Sub
	if ok, err := d.decide(r.Context(), t); !ok {
		return d.notDecided(w, r, user, err)
	}
	d.Trail.Write(r, event.Consent, event.Event{App: t.AppID, User: user.Sub, Detail: "denied a device at " + t.IP})
	return d.showAnswered(w, r, http.StatusOK, "You have rejected it",
		"The device gets nothing. You can close this page.")
}

// keepOut takes the ticket to denied, because its application does not admit the user, and tells them.
func (d *Devices) keepOut(w http.ResponseWriter, r *http.Request, user storage.User, app storage.App,
	t storage.Ticket) error {
	t.State, t.UserID = denied, user.Sub
	if ok, err := d.decide(r.Context(), t); !ok {
		return d.notDecided(w, r, user, err)
	}
	d.Trail.Write(r, event.Consent, event.Event{App: app.ID, User: user.Sub, Status: http.StatusForbidden,
		Detail: event.DetailNotAdmitted + ", on a device at " + t.IP})
	name := page.Shown(app.Name)
	if app.Client != nil { // what it calls itself is a claim
		name = cmp.Or(app.Host(), "?")
	}
	return d.showAnswered(w, r, http.StatusForbidden, "You may not use this application",
		"You are signed in as %s, who may not use %s. The device has been told. Ask the owner of the application, or an "+
			"administrator of this service, to let you in, then begin on the device once more.",
		page.Shown(cmp.Or(user.Username, user.Nickname, user.Sub)), name)
}

// allow stores the user's consent, then takes the ticket to allowed. From then on the device's next poll
// is answered with tokens. A process that ends in between has stored a consent and given nothing.
func (d *Devices) allow(w http.ResponseWriter, r *http.Request, who storage.Session, user storage.User,
	t storage.Ticket, code string, in map[string]string, picks []string) error {
	ctx, q := r.Context(), requestOf(t)
	app, err := d.app(ctx, t.AppID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return d.showCode(w, r, http.StatusBadRequest, user, "", goneText)
	case err != nil:
		return err
	}
	switch admitted, err := d.Store.Admits(ctx, app, user); {
	case err != nil:
		return err
	case !admitted:
		return d.keepOut(w, r, user, app, t)
	case in["terms"] != app.Terms(): // it has changed since the page was made
		return d.showConfirmation(w, r, http.StatusOK, app, user, t, "")
	}
	if asked, err := d.Second.Raise(w, r, app, "", web.DeviceLink(code)); asked || err != nil {
		return err
	}
	choice, err := d.Consents.ChoiceOf(ctx, app, user.Sub, q.scope)
	if err != nil {
		return err
	}
	granted, again, ok := choice.Take(q.scope, in["tools"], picks)
	switch {
	case again != "":
		return d.showConfirmation(w, r, http.StatusBadRequest, app, user, t, again)
	case !ok: // the page would offer something else now
		return d.showConfirmation(w, r, http.StatusOK, app, user, t, "")
	}
	granted = scope.WithoutElevated(granted)
	if err := d.Consents.TakesFresh(r, app, who, granted); err != nil {
		return err
	}
	return d.grant(w, r, who, user, app, t, granted)
}

func (d *Devices) grant(w http.ResponseWriter, r *http.Request, who storage.Session, user storage.User, app storage.App,
	t storage.Ticket, granted string) error {
	ctx, q := r.Context(), requestOf(t)
	q.granted = granted
	if err := d.Consents.Remember(ctx, app, user.Sub, q.scope, q.granted); err != nil {
		return err
	}
	if err := d.Store.KeepClient(ctx, app.ID); err != nil {
		return err
	}
	if _, err := d.Store.EnsureOpenID(ctx, app.ID, user.Sub); err != nil {
		return err
	}
	q.grant, q.authTime = handle.NewGrant(d.Store.Later(now())), who.ProvedAt()
	t.State, t.Query, t.UserID, t.Session, t.LoginType = allowed, q.String(), user.Sub, who.ID, who.SignInMethod()
	if ok, err := d.decide(ctx, t); !ok {
		return d.notDecided(w, r, user, err)
	}
	d.Trail.Write(r, event.Consent, event.Event{App: app.ID, User: user.Sub,
		Detail: "allowed " + q.granted + " on a device at " + t.IP})
	return d.showAnswered(w, r, http.StatusOK, "Your device is connected",
		"It goes on by itself within a few seconds. You can close this page.")
}

// decide writes the answer, unless another request has been faster.
func (d *Devices) decide(ctx context.Context, t storage.Ticket) (ok bool, err error) {
	_, err = d.Store.SaveTicket(ctx, t)
	switch {
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	d.Rates.Devices.Ended(t)
	return true, nil
}

func (d *Devices) notDecided(w http.ResponseWriter, r *http.Request, user storage.User, err error) error {
	if err != nil {
		return err
	}
	return d.showCode(w, r, http.StatusBadRequest, user, "", endedText)
}

// answeredView holds what the page shows at the end.
type answeredView struct {
	web.View
	Text string
}

// showAnswered shows the end, in a text that is in English and may have %s for names.
func (d *Devices) showAnswered(w http.ResponseWriter, r *http.Request, status int, title, text string,
	names ...string) error {
	t := d.Pages.Context(r, "", storage.App{})
	v := answeredView{Text: t.Lang.T(text, names...)}
	v.Title = title
	return t.Show(w, status, answeredPage, &v)
}
