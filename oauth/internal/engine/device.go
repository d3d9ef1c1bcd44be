package engine

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// CheckDevice returns the scope that an authenticated application would be granted on a device (RFC
// 8628 3.1): known names only, each once. A scope that is never granted silently takes a sign-in and a
// question in the application's own browser, so it is refused here.
func (e *Engine) CheckDevice(app storage.App, form url.Values) (string, error) {
	if err := checkDeviceClient(app); err != nil {
		return "", err
	}
	if scope.HasElevated(form.Get("scope")) {
		return "", refuse(InvalidScope, "the scope "+scope.OnlyElevated(form.Get("scope"))+" is not granted to a device: "+
			"leave it out, or use the authorization endpoint")
	}
	return e.wanted(form), e.checkTarget(form.Get("resource"))
}

// checkDeviceClient refuses applications that may not use the device grant: of those that nobody
// registered, all that have not said that they want to.
func checkDeviceClient(app storage.App) error {
	switch {
	case app.Disabled:
		return refuse(UnauthorizedClient, "this application is disabled")
	case !app.Live(time.Now()):
		return refuse(InvalidClient, "this application has ended: register it again")
	case app.Client != nil && !slices.Contains(app.Client.Grants, GrantDevice):
		return refuse(UnauthorizedClient, "the grant_types of this application do not hold "+GrantDevice)
	}
	return nil
}

// Device issues the tokens for a device_code that a user has allowed. The record is written here and
// spent in the same request, so that of any number of requests, on whatever node, one is answered with
// tokens. Its ExpiresAt must be later than any request with this device_code can come.
func (e *Engine) Device(ctx context.Context, r Request, allowed driver.Token) (Granted, error) {
	w := r.work()
	w.found, w.scope, w.spend = &allowed, allowed.Scope, true
	ctx = w.context(ctx)
	if err := e.checkDevice(ctx, w); err != nil {
		return Granted{}, err
	}
	g := Granted{App: w.app, At: w.now}
	if err := e.readOwner(ctx, w, &g); err != nil {
		return Granted{}, err
	}
	mint := strategy{e}
	if _, err := e.mintAccess(w); err != nil {
		return Granted{}, err
	}
	if _, _, err := mint.GenerateRefreshToken(ctx, nil); err != nil {
		return Granted{}, err
	}
	if err := e.Store.Issue(ctx, allowed); err != nil && !errors.Is(err, storage.ErrExists) {
		return Granted{}, err
	}
	return e.complete(ctx, w, g)
}

// checkDevice checks the client, the resource and whether the device_code has been redeemed. A second
// redemption that comes too late to be a retry ends the grant, as for an authorization code: another
// party knows the device_code.
func (e *Engine) checkDevice(ctx context.Context, w *work) error {
	if w.app.Disabled {
		return refuse(InvalidGrant, "this application is disabled")
	}
	if err := checkDeviceClient(w.app); err != nil {
		return err
	}
	if err := e.checkTarget(w.form.Get("resource")); err != nil {
		return err
	}
	t, err := e.Store.Token(ctx, w.found.Key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	case t.SpentAt.IsZero(): // an earlier request has written it and was cut off
		return nil
	case w.now.Sub(t.SpentAt) >= e.CodeReuseLeeway:
		if err := e.Revoker.Revoke(ctx, e.GrantEnd(t, w.now)); err != nil {
			return err
		}
	}
	return deviceUsed
}
