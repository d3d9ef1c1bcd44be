package device

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Devices lets users allow what devices ask for.
type Devices struct {
	*flow.Steps
	Store    Store
	Consents *consent.Consents
	pace     pace
}

// Store keeps the devices that wait; *storage.Store implements it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	TicketsAbout(ctx context.Context, kind, subject string) ([]storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EnsureOpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	KeepClient(ctx context.Context, id string) error
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
	Later(now time.Time) time.Time
}

// The answers to a poll that gets no tokens (RFC 8628 3.5), and to a device that may not begin.
var (
	isPending = &reply.Failure{Status: http.StatusBadRequest, OAuth: "authorization_pending",
		Msg: "the user has not answered yet: ask again after the interval"}
	tooFast = &reply.Failure{Status: http.StatusBadRequest, OAuth: "slow_down",
		Msg: "this is asked too often: wait 5 seconds longer between two requests from now on"}
	isDenied  = &reply.Failure{Status: http.StatusBadRequest, OAuth: "access_denied", Msg: "the user did not allow this"}
	isExpired = &reply.Failure{Status: http.StatusBadRequest, OAuth: "expired_token",
		Msg: "this device_code has expired after 10 minutes: ask for a new one"}
	isUnknown = &reply.Failure{Status: http.StatusBadRequest, OAuth: "invalid_grant",
		Msg: "this device_code is unknown here, or was given to another application"}
	// RFC 8628 5.1
	tooManyOpen = &reply.Failure{Status: http.StatusTooManyRequests, OAuth: "temporarily_unavailable",
		Msg: "too many devices of this network wait for their users: try again later"}
)

// maxDraws bounds how often a code is drawn until it is one that no other device has.
const maxDraws = 8

// Begin stores what an application asks for on a device, and returns the device_code. The Subject of the
// ticket is the code that the user types.
func (d *Devices) Begin(r *http.Request, app storage.App,
	scope, resource string) (deviceCode string, t storage.Ticket, err error) {
	client := network.Of(d.Peer(r))
	if wait := d.Rates.Tickets.Take(r.Context(), client); wait > 0 {
		return "", t, tooManyOpen.With("Retry-After", web.InSeconds(wait))
	}
	if wait := d.Rates.Devices.Take(client); wait > 0 {
		return "", t, tooManyOpen.With("Retry-After", web.InSeconds(wait))
	}
	at := now()
	deviceCode = handle.New("", at)
	t = storage.Ticket{
		ID: handle.Hash(deviceCode), Kind: kind, State: pending, AppID: app.ID,
		Query: request{scope: scope, resource: resource}.String(),
		IP:    d.Peer(r).String(), Agent: web.AgentOf(r), CreatedAt: at, ExpiresAt: at.Add(limits.DeviceLife),
	}
	if t.Subject, err = d.freeCode(r.Context()); err == nil {
		t, err = d.Store.SaveTicket(r.Context(), t)
	}
	if err != nil {
		d.Rates.Devices.Done(client)
		return "", t, err
	}
	return deviceCode, t, nil
}

func (d *Devices) freeCode(ctx context.Context) (string, error) {
	for range maxDraws {
		code := newUserCode()
		taken, err := d.Store.TicketsAbout(ctx, kind, code)
		if err != nil || len(taken) == 0 {
			return code, err
		}
	}
	return "", fmt.Errorf("signin: %d codes for a device were all taken", maxDraws)
}

// Poll returns the record by which a device_code that a user has allowed is redeemed, or the answer for
// the device. Requests with a device_code of the application itself are counted by that, and not by the
// address: many devices may have one.
func (d *Devices) Poll(r *http.Request, app storage.App, deviceCode string) (driver.Token, error) {
	t, err := d.waiting(r.Context(), app, deviceCode)
	if err != nil {
		return driver.Token{}, err
	}
	if d.Rates.PollsOfCode.Take(r.Context(), t.ID) > 0 {
		return driver.Token{}, tooFast // and it counts for the address
	}
	reqctx.ChargeDevice(r.Context(), t.ID)
	switch at := now(); {
	case !t.Live(at):
		return driver.Token{}, isExpired
	case !d.pace.take(r.Context(), d.Rates.Shared, t.ID, at):
		return driver.Token{}, tooFast
	}
	switch t.State {
	case allowed:
		return tokenOf(t, deviceCode), nil
	case denied:
		return driver.Token{}, isDenied
	}
	return driver.Token{}, isPending
}

// waiting finds the ticket of a device_code. One of another application is as unknown as one that there
// is not, and asking for it changes nothing.
func (d *Devices) waiting(ctx context.Context, app storage.App, deviceCode string) (storage.Ticket, error) {
	t, err := d.Store.Ticket(ctx, handle.Hash(deviceCode))
	switch {
	case errors.Is(err, storage.ErrNotFound) && drawnBefore(deviceCode, now().Add(-limits.DeviceLife)):
		return t, isExpired // and swept, if it ever was
	case errors.Is(err, storage.ErrNotFound), err == nil && (t.Kind != kind || t.AppID != app.ID):
		return t, isUnknown
	}
	return t, err
}

// drawnBefore reports whether the time that a device_code carries is before another.
func drawnBefore(deviceCode string, at time.Time) bool {
	key := handle.KeyOf(deviceCode)
	nano := int64(binary.BigEndian.Uint64(key[:8]))
	return nano > 0 && time.Unix(0, nano).Before(at)
}
