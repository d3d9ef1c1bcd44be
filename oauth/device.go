package oauth

import (
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

// deviceInterval is the least time between two polls of a device (RFC 8628 3.2), as Config.Devices demand it.
const deviceInterval = 5 * time.Second

// deviceResponse holds the members of RFC 8628 3.2, behind those that every answer has.
type deviceResponse struct {
	Code                    int    `json:"code"`
	Msg                     string `json:"msg"`
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int64  `json:"expires_in"`
	Interval                int64  `json:"interval"`
}

// deviceEndpoint serves POST /oauth/device_authorization.
type deviceEndpoint struct {
	*authenticator
	visitors visitors
}

// authorizeDevice serves POST /oauth/device_authorization (RFC 8628 3.1).
//
// The device is granted tokens by its user's answer on a page of the [Config]'s Devices. The scope apps is
// refused: it requires a sign-in and a question in the application's own browser. A poll without an answer yet
// is no event of the audit trail.
func (d *deviceEndpoint) authorizeDevice(w http.ResponseWriter, r *http.Request) (err error) {
	entry := d.newEvent(r, event.Token)
	entry.Detail, entry.Anonymous = "device authorization", true
	defer func() {
		completeEvent(entry, err)
		d.c.Audit.Note(*entry)
	}()
	if d.c.Devices == nil {
		return noDevices
	}
	app, form, err := d.deviceClient(w, r)
	entry.App = app.ID
	if err != nil {
		return err
	}
	entry.Anonymous = app.Public
	if err := d.visitors.judged(r.Context(), app); err != nil {
		return err
	}
	scope, err := d.engine.CheckDevice(app, form)
	if err != nil {
		return failed(err)
	}
	code, t, err := d.c.Devices.BeginDevice(r, app, scope, form.Get("resource"))
	if err != nil {
		return err
	}
	page := d.issuer + d.c.Devices.DevicePage()
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, deviceResponse{
		Msg: "success", DeviceCode: code, UserCode: t.Subject,
		VerificationURI: page, VerificationURIComplete: page + "?" + url.Values{"user_code": {t.Subject}}.Encode(),
		ExpiresIn: int64(t.ExpiresAt.Sub(t.CreatedAt) / time.Second), Interval: int64(deviceInterval / time.Second),
	})
}

// deviceClient is client for the endpoint where a device begins: a document that is not known, or no
// longer fresh, is fetched, if there is nothing wrong with the request.
func (d *deviceEndpoint) deviceClient(w http.ResponseWriter,
	r *http.Request) (app storage.App, form url.Values, err error) {
	if form, err = clientForm(w, r); err != nil {
		return app, form, err
	}
	d.readTarget(form)
	if id := documentOf(form); id != "" {
		anybody := storage.App{ID: id, Public: true, Client: &client.Description{Grants: []string{engine.GrantDevice}}}
		_, err = d.clients.find(r, id, func() error {
			_, err := d.engine.CheckDevice(anybody, form)
			return failed(err)
		})
		if err != nil {
			return app, form, atToken(err)
		}
	}
	app, err = d.clientOf(r, form)
	return app, form, err
}

// deviceToken is the token request of a device (RFC 8628 3.4). A poll that has to wait is counted by
// its device_code; any other request of an application with a secret by the application.
func (t *tokenEndpoint) deviceToken(r *http.Request, asked engine.Request) (engine.Granted, error) {
	app, form := asked.App, asked.Form
	if t.c.Devices == nil {
		return engine.Granted{}, badRequest.Named(engine.UnsupportedGrantType).Saying(noDevices.Msg)
	}
	if form.Get("device_code") == "" {
		return engine.Granted{}, badRequest.Saying("device_code is missing")
	}
	allowed, err := t.c.Devices.PollDevice(r, app, form.Get("device_code"))
	if !app.Public {
		if err := reqctx.Charge(r.Context(), app); err != nil {
			return engine.Granted{}, err
		}
	}
	if err != nil {
		return engine.Granted{}, err
	}
	return t.engine.Device(r.Context(), asked, allowed)
}

// waits reports whether the error is that of a device whose user has not answered yet: there is nothing
// to write down.
func waits(err error) bool {
	f := reply.FailureOf(err)
	return f.OAuth == "authorization_pending" || f.OAuth == "slow_down"
}
