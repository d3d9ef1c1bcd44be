package oauth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/oauth/internal/clientdoc"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

const (
	staleLife      = 24 * time.Hour // how long a document is used beyond its freshness while it cannot be read
	unkeptLife     = 24 * time.Hour // how long one is kept that no user has consented to
	retryAfterAway = time.Minute    // how long one that could not be read again is left alone
	maxTried       = 4096
)

// clients finds applications by client_id: in the store, and those that nobody registered at their
// client_id too.
//
// A document is kept for a day, and for good once a user has consented to it (storage.Store.KeepClient). The
// next authorize request after that day reads it again, and one write makes it fresh. If it cannot be read
// then, or is refused, the last good one is used for another day, and its host is left alone for a minute. A
// failure to read an unknown document is not remembered, and counts only for the network of its requester.
//
// For strangers at most 10 documents and key sets a minute are read for an address, 30 of one host and 100 in
// all; and at most 30 new documents an hour and 100 a day are kept for an address, and 1,000 a day for each
// listed host and for all others together, beside the reserves of package internal/allowance. The last bound
// limits the store: it counts documents and not hosts, because some hosts answer at any URL with a document of
// that client_id.
type clients struct {
	policy ClientsConfig
	store  Store
	fetch  *clientdoc.Fetcher
	budget *clientdoc.Budget
	from   func(*http.Request) netip.Addr
	note   func(r *http.Request, clientID, detail string, err error)
	log    *slog.Logger

	mu          sync.Mutex
	sharedReads map[reading]*sharedRead
	tried       *cache.Cache[reading, time.Time] // when a document or a key set could not be read
}

func (k *core) newClients() (*clients, error) {
	policy := k.c.Clients
	fetch, err := clientdoc.New(clientdoc.Config{Allow: policy.AllowPrivate, Transport: policy.Transport})
	if err != nil {
		return nil, err
	}
	if k.c.Consent == nil {
		policy.Documents = ClientsOff // nobody would be asked
	}
	c := &clients{
		policy: policy, store: k.store, fetch: fetch, budget: clientdoc.NewBudget(k.c.Counter), from: k.c.ClientIP,
		log: k.c.Log, sharedReads: map[reading]*sharedRead{}, tried: cache.New[reading, time.Time](maxTried),
	}
	c.note = func(r *http.Request, clientID, detail string, err error) {
		e := k.newEvent(r, event.Client)
		e.App, e.Detail, e.Anonymous = clientID, detail, true
		completeEvent(e, err)
		k.c.Audit.Note(*e)
	}
	return c, nil
}

// isDocument reports whether a client_id is of the form of a document's URL.
func isDocument(clientID string) bool { return strings.HasPrefix(clientID, client.DocumentPrefix) }

// known returns an application of the store, or storage.ErrNotFound. One that nobody registered must not
// have ended, and its host must still be admitted.
func (c *clients) known(ctx context.Context, clientID string) (storage.App, error) {
	if isDocument(clientID) {
		if _, err := c.admit(ctx, clientID); err != nil {
			return storage.App{}, err
		}
	}
	app, err := c.store.App(ctx, clientID)
	if err == nil && !app.Live(time.Now()) {
		err = storage.ErrNotFound
	}
	return app, err
}

// find returns the application of an authorize request. A document that is not known, or no longer
// fresh, is fetched, but only once wellFormed has found nothing wrong with the request.
func (c *clients) find(r *http.Request, clientID string, wellFormed func() error) (storage.App, error) {
	ctx := r.Context()
	if !isDocument(clientID) {
		return c.known(ctx, clientID)
	}
	host, err := c.admit(ctx, clientID)
	if err != nil {
		return storage.App{}, err
	}
	app, err := c.store.App(ctx, clientID)
	switch {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return app, err
	case err == nil && c.usable(app, time.Now()):
		return app, nil
	}
	if err := wellFormed(); err != nil {
		return storage.App{}, err
	}
	return c.readOnce(r, documentOfApp(clientID), func(ctx context.Context) (storage.App,
		error) {
		return c.read(ctx, r, clientID, host)
	})
}

// usable reports whether a document of the store need not be read now.
func (c *clients) usable(app storage.App, now time.Time) bool {
	if !app.Live(now) || app.Client == nil {
		return false
	}
	if now.Before(app.Client.FreshUntil) {
		return true
	}
	tried, there := c.tried.Get(documentOfApp(app.ID))
	return there && now.Sub(tried) < retryAfterAway && now.Before(app.Client.FreshUntil.Add(staleLife))
}

// admit checks a client_id that is to be a document's URL, and whether its host is one that is
// admitted here. It returns the host.
func (c *clients) admit(ctx context.Context, clientID string) (host string, err error) {
	if c.policy.Documents == ClientsOff {
		return "", clientsOff
	}
	if host, err = c.fetch.CheckID(clientID); err != nil {
		return "", badDocument.Because(err)
	}
	switch word, err := c.store.ClientHost(ctx, host); {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return "", err
	case err == nil && word.Denied:
		return "", clientDenied
	case err == nil || c.policy.Documents == ClientsOpen || c.listed(host):
		return host, nil
	}
	return "", clientUnlisted
}

func (c *clients) listed(host string) bool { return slices.Contains(c.policy.Hosts, host) }
