package oauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/internal/clientdoc"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// reading names what is read: the document of an application, or the key set of one. Whose it is belongs to the
// name, since strangers may write anybody's address into their own documents.
type reading struct{ what, clientID, address string }

func documentOfApp(clientID string) reading { return reading{"document", clientID, clientID} }

func keySetOfApp(app storage.App) reading { return reading{"key set", app.ID, app.Client.KeysURL} }

// sharedRead is one reading, for which all requests that want it at that moment wait.
type sharedRead struct {
	done chan struct{}
	app  storage.App
	err  error
}

// readOnce reads something once for all requests that want it at the same time. No request is refused because the
// network of another one has used up its budget: it begins a reading of its own then.
func (c *clients) readOnce(r *http.Request, of reading, read func(context.Context) (storage.App, error)) (storage.App,
	error) {
	for {
		f, mine := c.sharedRead(of)
		if mine {
			return c.doRead(r, of, f, read)
		}
		select {
		case <-f.done:
			if isBusy(f.err) {
				continue
			}
			app := f.app
			app.Client = app.Client.Clone()
			return app, f.err
		case <-r.Context().Done():
			return storage.App{}, r.Context().Err()
		}
	}
}

// sharedRead returns the reading that is on its way, or the caller's own.
func (c *clients) sharedRead(of reading) (f *sharedRead, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.sharedReads[of]; f != nil {
		return f, false
	}
	f = &sharedRead{done: make(chan struct{}), err: storage.ErrUnavailable} // unless read returns
	c.sharedReads[of] = f
	return f, true
}

func (c *clients) doRead(r *http.Request, of reading, f *sharedRead,
	read func(context.Context) (storage.App, error)) (storage.App, error) {
	defer func() {
		c.mu.Lock()
		delete(c.sharedReads, of)
		c.mu.Unlock()
		close(f.done)
	}()
	// The others that wait must not fail because the first requester leaves.
	f.app, f.err = read(context.WithoutCancel(r.Context()))
	return f.app, f.err
}

// read reads a document and stores it. If it cannot be read, one that is known stays good for a day.
func (c *clients) read(ctx context.Context, r *http.Request, clientID, host string) (storage.App, error) {
	now := time.Now()
	old, err := c.store.App(ctx, clientID)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return old, err
	}
	known := err == nil && old.Live(now)
	if known && c.usable(old, now) {
		return old, nil // another request has just read it
	}
	doc, err := c.get(ctx, r, clientID, host, known)
	if err != nil {
		if known && now.Before(old.Client.FreshUntil.Add(staleLife)) {
			if !isBusy(err) { // another network may read it
				c.tried.Put(documentOfApp(clientID), now)
			}
			return old, nil
		}
		return storage.App{}, err
	}
	return c.save(ctx, r, old, clientID, doc)
}

// get fetches a document within the budgets. One that is not known yet is counted once it is good: a failure is
// the requester's, and uses up nothing that others need.
func (c *clients) get(ctx context.Context, r *http.Request, clientID, host string,
	known bool) (clientdoc.Document, error) {
	from, listed := c.from(r), ""
	if c.listed(host) {
		listed = host
	}
	wait := time.Duration(0)
	if known {
		wait = c.budget.Fetch(ctx, from, host)
	} else {
		wait = c.budget.FetchNew(ctx, from, host, listed)
	}
	if wait > 0 {
		return clientdoc.Document{}, busy(wait)
	}
	doc, err := c.fetch.Document(ctx, clientID)
	switch {
	case err == nil && known:
		return doc, nil
	case err == nil:
		if wait := c.budget.Add(ctx, from, listed); wait > 0 { // others of its network were faster
			return doc, busy(wait)
		}
		return doc, nil
	}
	failure, detail := badDocument.Because(err), "document refused"
	if problem, ok := errors.AsType[*clientdoc.Problem](err); ok && problem.Away {
		failure, detail = documentAway.Because(err), "document not read"
	}
	c.note(r, clientID, detail, failure)
	c.log.WarnContext(ctx, "client metadata document: "+detail, "client_id", clientID, "why", err, "cause",
		errors.Unwrap(err))
	return doc, failure
}

// save stores what a document says. If another request was faster, theirs counts.
func (c *clients) save(ctx context.Context, r *http.Request, old storage.App, clientID string,
	doc clientdoc.Document) (storage.App, error) {
	now := time.Now().UTC()
	app, was, detail := storage.App{ID: clientID, Version: old.Version}, old.Client, "document admitted"
	if was != nil && old.Live(now) {
		app, detail = old, ""
	} else {
		was = &client.Description{}
		app.Tier, app.CreatedAt = old.Tier, old.CreatedAt
	}
	app.Name, app.Public, app.ForbidPlain, app.Client = doc.Name, true, true, doc.Client.Clone()
	app.Client.FetchedAt, app.Client.FreshUntil = now, now.Add(doc.Lifetime)
	app.Client.KeptAt = was.KeptAt
	if was.KeptAt.IsZero() {
		app.Client.ExpiresAt = now.Add(unkeptLife)
	}
	if app.Client.KeysURL != "" && app.Client.KeysURL == was.KeysURL {
		app.Client.Keys, app.Client.KeysRead = was.Keys, was.KeysRead
	}
	if detail == "" && (app.Terms() != old.Terms() || !slices.Equal(app.Client.Grants, was.Grants)) {
		detail = "document changed"
	}
	saved, err := c.store.SaveApp(ctx, app)
	switch {
	case errors.Is(err, storage.ErrExists), errors.Is(err, storage.ErrConflict):
		return c.store.App(ctx, clientID)
	case err != nil:
		return saved, err
	}
	if detail != "" {
		c.note(r, clientID, detail, nil)
	}
	return saved, nil
}

// busy is the failure of a request that has to wait for its turn.
func busy(wait time.Duration) error { return clientsBusy.With("Retry-After", seconds(wait)) }

func isBusy(err error) bool {
	f, ok := errors.AsType[*reply.Failure](err)
	return ok && f.Status == http.StatusTooManyRequests
}

// seconds returns the value of a Retry-After header.
func seconds(wait time.Duration) string {
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}
