// Package outgoing sends what others are told of users: logout tokens to applications whose sessions have
// ended (OpenID Connect Back-Channel Logout 1.0), and user events to the operator's webhook.
//
// Both wait in the store, where they were put in the step that they tell of, or before that was answered.
// Any process may send them. See package webhook for attempts and order.
//
// # Choices
//
// A logout token is made at each attempt, so it is always fresh: it is good for two minutes, and an
// application that has a new secret or key is sent what it can verify. Where it goes is looked up at each
// attempt too: an application that is gone, disabled, or has taken its address away is sent nothing.
//
// An answer of 400 is the application's last word on a logout (OpenID Connect Back-Channel Logout 2.8): what it
// does not take is not sent again, and does not hold up what follows. Anything else that is not a 2xx is tried
// again for storage.LogoutLife.
//
// An application is sent one request at a time, and five in a second at most, by all processes together.
package outgoing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Store holds what is to be sent; *storage.Store implements it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
	DueTold(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	Queued() <-chan struct{}
}

// Config holds the parameters of New. All are required.
type Config struct {
	Store  Store
	Issuer string
	Client *http.Client // for user events: that of a netguard.Guard

	// Logouts is for applications whose address an operator knows of, Public for all others; each is that of
	// a netguard.Guard, and Public's allows nothing.
	Logouts, Public *http.Client

	Sign func(ctx context.Context, app storage.App, typ string, payload []byte) (string, error)
	Note func(e event.Event) // puts an event on the audit trail
	Log  *slog.Logger
}

const (
	tokenLifetime = 2 * time.Minute
	timeout       = 5 * time.Second // of one attempt to tell an application
	parallel      = 16
	pause         = 200 * time.Millisecond
)

// New starts to send. Close ends it.
func New(c Config) (*webhook.Sender, error) {
	return webhook.New(webhook.Config{
		Store: queues{c.Store}, Client: c.Client, Queued: c.Store.Queued(), Compose: c.compose, Parallel: parallel,
		Pause: pause, Log: c.Log,
	})
}

// queues is a Store whose due deliveries are those of this package.
type queues struct{ Store }

func (s queues) DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error) {
	return s.DueTold(ctx, at, n)
}

func (c Config) compose(ctx context.Context, d storage.Delivery) (webhook.Message, error) {
	if d.Dropped > 0 && d.Attempts == 1 {
		c.noteDropped(d)
	}
	id, ok := notify.AppOf(d.Member)
	if !ok {
		return c.userEvent(ctx, d)
	}
	app, err := c.Store.App(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (app.Disabled || app.BackchannelLogoutURI == ""):
		return webhook.Message{}, nil
	case err != nil:
		return webhook.Message{}, err
	}
	l, err := notify.ReadLogout(d.Payload)
	if err != nil {
		return webhook.Message{}, err
	}
	signed, err := c.Sign(ctx, app, token.TypeLogout, claims(c.Issuer, app.ID, l, time.Now()))
	if err != nil {
		return webhook.Message{}, err
	}
	return webhook.Message{
		URL: app.BackchannelLogoutURI, ContentType: "application/x-www-form-urlencoded",
		Body:    []byte(url.Values{"logout_token": {signed}}.Encode()),
		Timeout: timeout, Client: c.clientFor(app), Final: func(status int) bool { return status == http.StatusBadRequest },
	}, nil
}

// clientFor returns the client that tells an application. The list of private addresses is for those that
// an operator has set, and for those that say of themselves that they are inside, which nobody else may set.
// Another name would come in by it that its owner has lead into the private network.
func (c Config) clientFor(app storage.App) *http.Client {
	u, err := url.Parse(app.BackchannelLogoutURI)
	if app.OperatorLogoutURI == app.BackchannelLogoutURI || err == nil && netguard.Inside(u) {
		return c.Logouts
	}
	return c.Public
}

func (c Config) userEvent(ctx context.Context, d storage.Delivery) (webhook.Message, error) {
	to, secret, err := c.Store.UserWebhook(ctx)
	if err != nil || to == "" {
		return webhook.Message{}, err
	}
	return webhook.Message{URL: to, ContentType: "application/json", Body: d.Payload, Secret: secret}, nil
}

// noteDropped writes down that a queue was full.
func (c Config) noteDropped(d storage.Delivery) {
	e := event.Event{Kind: event.Admin, At: time.Now(),
		Detail: fmt.Sprintf("%d user events were dropped: their queue was full", d.Dropped)}
	if id, ok := notify.AppOf(d.Member); ok {
		e.App, e.Detail = id, fmt.Sprintf("%d logouts were dropped: the application's queue was full", d.Dropped)
	}
	c.Note(e)
	c.Log.Warn(e.Detail, "member", d.Member)
}

// claims returns the payload of a logout token (OpenID Connect Back-Channel Logout 2.4).
func claims(issuer, audience string, l notify.Logout, now time.Time) []byte {
	to := rawjson.AppendString(append(make([]byte, 0, 512), `{"iss":`...), issuer)
	to = rawjson.AppendString(append(to, `,"sub":`...), l.Sub)
	to = rawjson.AppendString(append(to, `,"aud":`...), audience)
	to = strconv.AppendInt(append(to, `,"iat":`...), now.Unix(), 10)
	to = strconv.AppendInt(append(to, `,"exp":`...), now.Add(tokenLifetime).Unix(), 10)
	to = rawjson.AppendString(append(to, `,"jti":`...), rand.Text())
	if l.SID != "" {
		to = rawjson.AppendString(append(to, `,"sid":`...), l.SID)
	}
	return append(to, `,"events":{"http://schemas.openid.net/event/backchannel-logout":{}}}`...)
}
