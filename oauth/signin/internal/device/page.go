package device

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

//go:embed code.html confirm.html answered.html
var files embed.FS

var (
	codePage     = web.Parse(files, "code")
	confirmPage  = consent.WithChoice(web.Parse(files, "confirm"))
	answeredPage = web.Parse(files, "answered")
)

// The texts above the form, in English.
const (
	signInText    = "Sign in first. Then you can connect the device that shows you a code."
	malformedText = "A code has 8 letters, such as BCDF-GHJK. Type it as your device shows it."
	wrongText     = "There is no such code, or it has expired. Look at your device again, or begin there once more."
	tooManyText   = "You have typed too many wrong codes. Wait %s minutes, then try again."
	endedText     = "This request has been answered already, or has expired. If your device still waits, begin there " +
		"once more."
	goneText = "The application that asked for this may not be used here any more. Nothing was allowed."
)

func (d *Devices) Routes() []reply.Route {
	return []reply.Route{
		{Path: web.DevicePath, Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handle: d.serve,
			Fail: web.Fail},
	}
}

func (d *Devices) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return d.submit(w, r)
	}
	code := ""
	if typed := r.URL.Query()["user_code"]; len(typed) == 1 {
		code = web.UserCodeOf(typed[0])
	}
	_, user, err := d.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		t := d.Pages.Context(r, web.DeviceLink(code), storage.App{})
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Lead: t.Lang.T(signInText),
			Username: t.Hint})
	case err != nil:
		return err
	}
	return d.showCode(w, r, http.StatusOK, user, code, "")
}

// codeView holds what the page shows where the code is typed.
type codeView struct {
	web.View
	Code  string
	Given bool // the code came with the link, so the user has to compare it
}

// showCode shows the form for the code. A code that came with a link is filled in and nothing else: it
// is looked up once the user says that it is the one that their device shows.
func (d *Devices) showCode(w http.ResponseWriter, r *http.Request, status int, user storage.User, code, alert string,
	args ...string) error {
	t := d.Pages.Context(r, "", storage.App{})
	v := codeView{View: web.ViewOf(user), Code: code, Given: code != "" && alert == ""}
	v.Title = "Connect a device"
	if alert != "" {
		v.Alert = t.Lang.T(alert, args...)
	}
	return t.Show(w, status, codePage, &v)
}

// submit serves POST: a typed code, or the answer to what its device asks for.
func (d *Devices) submit(w http.ResponseWriter, r *http.Request) error {
	in, picks, err := d.Pages.ReadChoice(w, r, "pick", consent.MaxPicks, "user_code", "ticket", "user", "terms", "tools",
		"allow", "deny", "other")
	if err != nil {
		return err
	}
	code := web.UserCodeOf(in["user_code"])
	if in["other"] != "" {
		if err := d.SignOut(w, r); err != nil {
			return err
		}
		return web.SeeOther(w, web.DeviceLink(code))
	}
	who, user, err := d.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return web.SeeOther(w, web.DeviceLink(code))
	case err != nil:
		return err
	case in["allow"] != "" || in["deny"] != "":
		return d.answer(w, r, who, user, code, in, picks)
	case code == "":
		return d.showCode(w, r, http.StatusBadRequest, user, "", malformedText)
	}
	return d.open(w, r, user, code)
}

// open looks up a typed code and shows what its device asks for.
func (d *Devices) open(w http.ResponseWriter, r *http.Request, user storage.User, code string) error {
	var t storage.Ticket
	wait, err := d.Rates.UserCodes.Try(r.Context(), user.Sub, network.Of(d.Peer(r)), func() (found bool, err error) {
		t, err = d.typed(r.Context(), code)
		return t.ID != "", err
	})
	switch {
	case err != nil:
		return err
	case wait > 0:
		w.Header().Set("Retry-After", web.InSeconds(wait))
		minutes := max(1, int((wait+time.Minute-1)/time.Minute))
		return d.showCode(w, r, http.StatusTooManyRequests, user, code, tooManyText, strconv.Itoa(minutes))
	case t.ID == "":
		return d.showCode(w, r, http.StatusBadRequest, user, code, wrongText)
	case t.State != pending:
		return d.showCode(w, r, http.StatusBadRequest, user, "", endedText)
	}
	app, err := d.app(r.Context(), t.AppID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return d.showCode(w, r, http.StatusBadRequest, user, "", goneText)
	case err != nil:
		return err
	}
	if admitted, err := d.Store.Admits(r.Context(), app, user); err != nil {
		return err
	} else if !admitted {
		return d.keepOut(w, r, user, app, t)
	}
	return d.showConfirmation(w, r, http.StatusOK, app, user, t, "")
}

// typed returns the live ticket with a code that a user has typed, or an empty one. Should two devices
// have drawn one code at the same moment, on different nodes, neither is meant.
func (d *Devices) typed(ctx context.Context, code string) (storage.Ticket, error) {
	all, err := d.Store.TicketsAbout(ctx, kind, code)
	var live []storage.Ticket
	for _, t := range all {
		if t.Live(now()) {
			live = append(live, t)
		}
	}
	if err != nil || len(live) != 1 {
		return storage.Ticket{}, err
	}
	return live[0], nil
}

// app returns the application of a ticket, or storage.ErrNotFound if it may not be used any more.
func (d *Devices) app(ctx context.Context, id string) (storage.App, error) {
	app, err := d.Store.App(ctx, id)
	if err == nil && (app.Disabled || !app.Live(now())) {
		err = storage.ErrNotFound
	}
	return app, err
}

// confirmView holds what the page shows where the user decides.
type confirmView struct {
	web.View
	Code, Ticket string
	User         string            // the sub of the user who is asked: nobody else's answer counts
	Terms        string            // of the application: no other ones are allowed by the answer
	Asker        string            // the application's name, if it was registered here
	Client       *consent.Stranger // nil: it was
	Address      string            // where it was begun
	Agent        string
	Begun        web.Moment
	Elsewhere    bool // not in the network of this browser
	Asks         []consent.Permission
	Choice       *consent.Choice // nil: there is none
}

// showConfirmation shows who asks for what, from where and since when (RFC 8628 5.4), and asks the user.
func (d *Devices) showConfirmation(w http.ResponseWriter, r *http.Request, status int, app storage.App,
	user storage.User, ticket storage.Ticket, alert string) error {
	t, wanted := d.Pages.Context(r, "", storage.App{}), requestOf(ticket).scope
	choice, err := d.Consents.ChoiceOf(r.Context(), app, user.Sub, wanted)
	if err != nil {
		return err
	}
	asks, err := d.Consents.Asks(r.Context(), app, user.Sub, wanted)
	if err != nil {
		return err
	}
	v := confirmView{
		View: web.ViewOf(user), Code: ticket.Subject, Ticket: ticket.ID, User: user.Sub, Terms: app.Terms(),
		Asker: app.Name, Client: consent.StrangerOf(app), Choice: choice,
		Address: t.Lang.T("an unknown address"), Agent: web.AgentText(t.Lang, ticket.Agent),
		Begun:     begunText(t.Lang, ticket.CreatedAt),
		Elsewhere: true, Asks: asks,
	}
	if ip, err := netip.ParseAddr(ticket.IP); err == nil {
		v.Address, v.Elsewhere = ip.Unmap().String(), network.Of(ip) != network.Of(d.Peer(r))
	}
	v.Title = "Allow a device"
	if alert != "" {
		v.Alert = t.Lang.T(alert)
		v.Choice.Some = true
	}
	return t.Show(w, status, confirmPage, &v)
}

// begunText says how long ago a device began.
func begunText(l page.Lang, at time.Time) web.Moment {
	m := web.MomentOf(l, at)
	switch minutes := int(time.Since(at) / time.Minute); {
	case minutes <= 0:
		m.Human = l.T("less than a minute ago")
	case minutes == 1:
		m.Human = l.T("a minute ago")
	default:
		m.Human = l.T("%s minutes ago", strconv.Itoa(minutes))
	}
	return m
}
