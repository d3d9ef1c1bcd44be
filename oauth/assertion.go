package oauth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	assertionKind = "client-assertion" // of the tickets of those that have been used

	keysLife  = time.Hour       // how long keys from a jwks_uri are used before they are read again
	keysPause = 5 * time.Minute // between two readings for an unknown key, whatever client asks
)

// documentOf returns the client_id of a request that an application with a document has sent; "" if
// it was another one. With an assertion the client_id may be left out (RFC 7521 4.2).
func documentOf(form url.Values) string {
	id := form.Get("client_id")
	if id == "" {
		id = token.SubjectOf(form.Get("client_assertion"))
	}
	if isDocument(id) {
		return id
	}
	return ""
}

// registeredProof authenticates an application that was registered here by an assertion of its keys (RFC 7523 2.2).
func (p *authenticator) registeredProof(r *http.Request, form url.Values) (app storage.App, err error) {
	assertion := form.Get("client_assertion")
	id := cmp.Or(form.Get("client_id"), token.SubjectOf(assertion))
	app, err = p.clients.known(r.Context(), id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.App{}, wrongClient.Saying("client_id or client_assertion is wrong: sub of the assertion is to be a " +
			"client_id of an application here")
	case err != nil:
		return storage.App{}, err
	case app.Keys == nil:
		return app, wrongClient.Saying("this application has no keys here: set them with keystile app set --jwks, or send " +
			"client_id and client_secret")
	case form.Has("client_secret"):
		return app, twoWays
	case form.Get("client_assertion_type") != assertionType:
		return app, wrongClient.Saying("client_assertion_type is not " + assertionType)
	}
	var proof token.Assertion
	source, fixed := keysOf(app, p.c.Assertions.AllowPrivate)
	err = p.signedBy(r.Context(), source, fixed, func(keys token.KeySet) (err error) {
		proof, err = keys.Check(assertion, app.ID, p.assertionAudiences(), time.Now())
		return err
	})
	if err != nil {
		return app, badAssertion(wrongClient, "client_assertion", err)
	}
	return app, p.clients.useUp(r.Context(), app.ID, proof)
}

// assertionAudiences returns the values that aud of an application's assertion may have. The token endpoint is not
// among them unless the operator wants it: an application could be told that of another service, and send it there.
func (k *core) assertionAudiences() []string {
	all := []string{k.issuer, k.issuer + "/"}
	if k.c.Assertions.TokenEndpointAudience {
		all = append(all, k.issuer+pathToken, k.issuer+pathToken+php)
	}
	return all
}

// authenticate finds the application with a document that has sent a form, and checks that it
// authenticates as its document says. It reads no document: a vendor that is away stops nobody who has
// signed in before.
func (c *clients) authenticate(r *http.Request, clientID string, form url.Values,
	audiences []string) (storage.App, error) {
	app, err := c.known(r.Context(), clientID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.App{}, wrongClient.Saying("client_id is not that of an application here: begin at the authorization " +
			"endpoint")
	case err != nil:
		return storage.App{}, atToken(err)
	}
	assertion := form.Get("client_assertion")
	switch {
	case form.Has("client_secret"):
		return app, wrongClient.Saying("this application has no client_secret: leave it out")
	case app.Client.AuthMethod == client.AuthNone && assertion != "":
		return app, wrongClient.Saying("the document at client_id has no keys for a client_assertion: leave it out")
	case app.Client.AuthMethod == client.AuthNone:
		return app, nil
	case assertion == "":
		return app, wrongClient.Saying("client_assertion is missing: the document at client_id wants private_key_jwt")
	case form.Get("client_assertion_type") != assertionType:
		return app, wrongClient.Saying("client_assertion_type is not " + assertionType)
	}
	proof, err := c.prove(r, app, assertion, audiences)
	if err != nil {
		return app, err
	}
	return app, c.useUp(r.Context(), app.ID, proof)
}

// prove checks an assertion by the keys of an application.
//
// The keys are read from a jwks_uri at the first token request, once they are an hour old, and for an unknown
// key at most every five minutes; if they cannot be read, the old ones stay. The audience must be the issuer or
// the token endpoint alone, as a text or a list of one: a service of another audience could replay the
// assertion here.
func (c *clients) prove(r *http.Request, app storage.App, assertion string,
	audiences []string) (proof token.Assertion, err error) {
	now := time.Now()
	if app.Client.KeysURL != "" && now.Sub(app.Client.KeysRead) > keysLife {
		app = c.withNewKeys(r, app)
	}
	for range 2 {
		keys, err := token.ReadKeySet(app.Client.Keys)
		if err != nil {
			return proof, wrongClient.Saying("the keys of this application cannot be read: look at its jwks_uri").Because(err)
		}
		proof, err = keys.Check(assertion, app.ID, audiences, now)
		if err == nil {
			return proof, nil
		}
		read := app.Client.KeysRead
		if errors.Is(err, token.ErrUnknownKey) && app.Client.KeysURL != "" {
			app = c.withNewKeys(r, app)
		}
		if app.Client.KeysRead.Equal(read) {
			reason := strings.TrimPrefix(err.Error(), token.ErrInvalid.Error()+": ")
			return proof, wrongClient.Saying("client_assertion is not good: " + reason).Because(err)
		}
	}
	return proof, wrongClient.Saying("client_assertion is not good: unknown kid")
}

// withNewKeys returns an application with keys that were just read from its jwks_uri, or as it was: if
// they were read before a moment, or cannot be.
func (c *clients) withNewKeys(r *http.Request, app storage.App) storage.App {
	now, keys := time.Now(), keySetOfApp(app)
	if tried, there := c.tried.Get(keys); now.Sub(app.Client.KeysRead) < keysPause || there && now.Sub(tried) < keysPause {
		return app
	}
	newer, err := c.readOnce(r, keys, func(ctx context.Context) (storage.App, error) { return c.readKeys(ctx, r, app) })
	if err != nil {
		if !isBusy(err) { // another network may read them
			c.tried.Put(keys, now)
		}
		c.log.WarnContext(r.Context(), "client keys not read", "client_id", app.ID, "jwks_uri", keys.address, "why", err,
			"cause", errors.Unwrap(err))
		return app
	}
	return newer
}

func (c *clients) readKeys(ctx context.Context, r *http.Request, app storage.App) (storage.App, error) {
	host, err := c.fetch.HostOf(app.Client.KeysURL)
	if err != nil {
		return app, err
	}
	switch word, err := c.store.ClientHost(ctx, host); {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return app, err
	case word.Denied:
		return app, clientDenied
	}
	if wait := c.budget.Fetch(ctx, c.from(r), host); wait > 0 {
		return app, busy(wait)
	}
	keys, err := c.fetch.Keys(ctx, app.Client.KeysURL)
	if err != nil {
		return app, err
	}
	return storage.RetryOnConflict(ctx, func() (storage.App, error) {
		now, err := c.store.App(ctx, app.ID)
		if err != nil || now.Client == nil || now.Client.KeysURL != app.Client.KeysURL {
			return app, errors.Join(err, errors.New("the document has changed"))
		}
		now.Client.Keys, now.Client.KeysRead = keys, time.Now().UTC()
		return c.store.SaveApp(ctx, now)
	})
}

// useUp makes an assertion of an application one that was used: nobody can use it again.
func (c *clients) useUp(ctx context.Context, clientID string, proof token.Assertion) error {
	err := usedUp(ctx, c.store, assertionKind, clientID, clientID, proof)
	if errors.Is(err, storage.ErrExists) {
		return wrongClient.Saying("client_assertion was used before: sign another one, with another jti")
	}
	return err
}

// usedUp makes an assertion of some kind one that was used, over all nodes. One that was used before is a
// storage.ErrExists. It is kept a little longer than the assertion is good: clocks differ.
func usedUp(ctx context.Context, store Store, kind, issuer, clientID string, proof token.Assertion) error {
	_, err := store.SaveTicket(ctx, storage.Ticket{
		ID: handle.Hash(kind + driver.Separator + issuer + driver.Separator + proof.ID), Kind: kind, AppID: clientID,
		CreatedAt: time.Now().UTC(), ExpiresAt: proof.End.Add(token.Skew).UTC(),
	})
	return err
}
