package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/allowance"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/registration"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

// unusedFor is the life of an application that has registered itself if no user consents to it.
const unusedFor = 24 * time.Hour

// Details of the audit events of applications that register themselves.
const (
	detailRegistered   = "client registered itself"
	detailUnregistered = "client removed itself"
)

func (k *core) registers() bool { return k.c.Clients.Registration != registrationOff }

// registrar serves the registration of applications by themselves.
type registrar struct{ *core }

// clientInformation is the answer to a registration (RFC 7591 3.2.1, RFC 7592 3).
type clientInformation struct {
	ClientID       string   `json:"client_id"`
	IssuedAt       int64    `json:"client_id_issued_at"`
	Name           string   `json:"client_name"`
	RedirectURIs   []string `json:"redirect_uris"`
	Grants         []string `json:"grant_types"`
	ResponseTypes  []string `json:"response_types"`
	AuthMethod     string   `json:"token_endpoint_auth_method"`
	Scope          string   `json:"scope,omitempty"`
	ManagementURI  string   `json:"registration_client_uri"`
	ManagementText string   `json:"registration_access_token"`
}

// register serves POST /oauth/register (RFC 7591 3). Some clients send it to /register, where they
// have found no metadata (MCP 2025-03-26).
//
// Every application that registers itself becomes a public client: package internal/registration says why,
// which metadata is taken, and how many may register. [Server.Mount] takes /register as well, unless
// registration is off.
func (g *registrar) register(w http.ResponseWriter, r *http.Request) (err error) {
	entry := g.newEvent(r, event.Registration)
	entry.Anonymous = true
	defer func() {
		completeEvent(entry, err)
		if err == nil {
			entry.Status = http.StatusCreated
		}
		g.c.Audit.Note(*entry)
	}()
	m, err := readRegistration(w, r)
	if err != nil {
		return err
	}
	if wait := allowance.Take(r.Context(), g.c.Counter, g.c.ClientIP(r), registration.Allowed); wait > 0 {
		return tooManyClients.With("Retry-After", seconds(wait))
	}
	secret := newRegistrationToken()
	app, err := g.saveClient(r, m, secret)
	if err != nil {
		return err
	}
	entry.App, entry.Detail, entry.Anonymous = app.ID, detailRegistered, false // there are few: see registration.Allowed
	info := g.informationOf(app, secret)
	info.Scope = g.engine.Known(m.Scope)
	reply.NoStore(w)
	return reply.JSON(w, http.StatusCreated, info)
}

func readRegistration(w http.ResponseWriter, r *http.Request) (m registration.Metadata, err error) {
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/json" {
		return m, badClientMetadata.Saying("the Content-Type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, registration.MaxBody))
	if err != nil {
		return m, badBody(err)
	}
	m, err = registration.Read(body)
	if refused, ok := errors.AsType[*registration.Refusal](err); ok {
		return m, badClientMetadata.Named(refused.Name).Saying(refused.Reason)
	}
	return m, err
}

// saveClient stores an application that has registered itself, until a user consents to it or a
// day is over.
func (g *registrar) saveClient(r *http.Request, m registration.Metadata, secret string) (storage.App, error) {
	id := handle.NewClientID()
	if m.Name == "" {
		m.Name = id
	}
	return g.store.SaveApp(r.Context(), storage.App{
		ID: id, Name: m.Name, Public: true, ForbidPlain: true,
		Client: &client.Description{
			Kind: client.Dynamic, RedirectURIs: m.RedirectURIs, Grants: m.Grants, AuthMethod: client.AuthNone,
			From: network.Of(g.c.ClientIP(r)).String(), AccessToken: hashOf(secret),
			ExpiresAt: time.Now().Add(unusedFor).UTC(),
		},
	})
}

func (g *registrar) informationOf(app storage.App, secret string) clientInformation {
	c := app.Client
	info := clientInformation{
		ClientID: app.ID, IssuedAt: app.CreatedAt.Unix(), Name: app.Name, RedirectURIs: c.RedirectURIs, Grants: c.Grants,
		ResponseTypes: registration.ResponseTypes(c.Grants), AuthMethod: c.AuthMethod,
		ManagementURI: g.issuer + pathRegister + "/" + app.ID, ManagementText: secret,
	}
	if info.RedirectURIs == nil {
		info.RedirectURIs = []string{}
	}
	return info
}

// registered serves GET and DELETE /oauth/register/{client_id} (RFC 7592 2.1, 2.3). A registration is
// not changed: what users have consented to would be another application.
//
// Removing a registration ends its grants. A wrong token, an unknown application and one that was registered in
// another way are answered alike.
func (g *registrar) registered(w http.ResponseWriter, r *http.Request) error {
	app, secret, err := g.registeredClient(r)
	if err != nil {
		return err
	}
	reply.NoStore(w)
	if r.Method != http.MethodDelete {
		return reply.JSON(w, http.StatusOK, g.informationOf(app, secret))
	}
	entry := g.newEvent(r, event.Registration)
	entry.App, entry.Detail = app.ID, detailUnregistered
	err = g.removeClient(r.Context(), app)
	completeEvent(entry, err)
	if err != nil {
		g.c.Audit.Note(*entry)
		return err
	}
	entry.Status = http.StatusNoContent
	if err := g.c.Audit.NoteNow(r.Context(), *entry); err != nil {
		return removalUnwritten.Because(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// registeredClient returns the application of a registration access token. One that is not there is
// answered as a wrong token is (RFC 7592 2.1), and takes as long.
func (g *registrar) registeredClient(r *http.Request) (app storage.App, secret string, err error) {
	secret, err = token.Bearer(r)
	if err != nil {
		return app, "", noRegistrationToken
	}
	app, err = g.store.App(r.Context(), r.PathValue("client_id"))
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return app, "", err
	}
	want := decoyHash
	if err == nil && app.Client != nil && app.Client.Kind == client.Dynamic && app.Live(time.Now()) {
		want = app.Client.AccessToken
	}
	if subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(want)) != 1 {
		return app, "", badRegistrationToken
	}
	return app, secret, nil
}

// removeClient ends what an application was granted, and removes it. A request that is on its way may
// have read it before: the revocation reaches ahead, which costs nothing, because the client_id is never
// given again. If the removal fails, the application can try again.
func (g *registrar) removeClient(ctx context.Context, app storage.App) error {
	end := token.EndOfApp(app.ID)
	if err := g.tokens.Revoke(ctx, end); err != nil {
		return err
	}
	_, err := storage.RetryOnConflict(ctx, func() (storage.App, error) {
		now, err := g.store.App(ctx, app.ID)
		if err != nil {
			return now, err
		}
		return now, g.store.RemoveClient(ctx, now)
	})
	if errors.Is(err, storage.ErrNotFound) { // another request was first
		return nil
	}
	return err
}

const registrationPrefix = "ksr_"

// newRegistrationToken draws a registration access token, which only its hash is kept of.
func newRegistrationToken() string {
	var b [32]byte
	rand.Read(b[:])
	return registrationPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// decoyHash is that of no token.
var decoyHash = hashOf("")

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
