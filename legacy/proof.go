package legacy

import (
	"cmp"
	"errors"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/bruteforce"
	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Details of events: how an application was authenticated.
const (
	byKey    = event.DetailPlainKey
	bySign   = event.DetailSigned
	unproven = " open"
)

// decoy stands in for an unknown application, so that an unknown appid takes as long as a
// known one.
var decoy = storage.App{Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}

// authenticate finds the application of a request and verifies its credentials (protocol 5). From
// then on the request counts against the application and no longer against its address.
func (l *Legacy) authenticate(c *call) (storage.App, error) {
	now, address := time.Now(), l.c.ClientIP(c.Request)
	who := bruteforce.By(address, c.params.Get("appid"))
	if wait := l.failures.RetryAfter(c.Context(), who); wait != "" {
		return storage.App{}, tooManyKeys.With("Retry-After", wait)
	}
	app, absent := l.find(c)
	switch no := (*reply.Failure)(nil); {
	case errors.As(absent, &no):
		app, who = decoy, bruteforce.Unknown(address)
		if wait := l.failures.RetryAfter(c.Context(), who); wait != "" {
			return storage.App{}, tooManyKeys.With("Retry-After", wait)
		}
	case absent != nil:
		return app, absent
	}
	how, err := verifyProof(app, c.params, c.known, now)
	if errors.Is(err, wrongKey) || errors.Is(err, wrongSign) {
		l.failures.Count(c.Context(), who)
		err = cmp.Or(absent, err)
	}
	if err != nil {
		return storage.App{}, err
	}
	c.event.App, c.event.Anonymous = app.ID, false
	c.event.Detail += how
	return app, reqctx.Charge(c.Context(), app)
}

// find returns the application that a request names. One that nobody registered is none here: it came after
// these endpoints, has no appkey, and would be redirected to although no user knows it (decision 95).
func (l *Legacy) find(c *call) (storage.App, error) {
	id := c.params.Get("appid")
	if id == "" {
		return storage.App{}, badParameter.Saying("appid is missing")
	}
	app, err := l.c.Store.App(c.Context(), id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && (app.Disabled || app.Client != nil) {
		return storage.App{}, unknownApp
	}
	return app, err
}

// verifyProof verifies the credentials of a request. A request with a sign or a timestamp
// is verified by its signature alone.
func verifyProof(app storage.App, params url.Values, known []string, now time.Time) (how string, err error) {
	if md5sign.IsSigned(params) {
		if err := md5sign.Check(app, params, now, known...); err != nil {
			return "", refusedSign(err)
		}
		return bySign, nil
	}
	if err := refuseDuplicates(params); err != nil {
		return "", err
	}
	switch {
	case !params.Has("appkey"):
		return "", badParameter.Saying("appkey is missing: send it, or timestamp and sign")
	case app.ForbidPlainKey:
		return "", signWanted
	case !app.Authenticates(params.Get("appkey"), now):
		return "", wrongKey
	}
	return byKey, nil
}

func hasCredentials(params url.Values) bool { return md5sign.IsSigned(params) || params.Has("appkey") }
