package apps

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/redirect"
)

// Host returns the host that a metadata document comes from, with its port; "" for other applications.
func (a App) Host() string {
	if a.Client == nil || a.Client.Kind != client.Document {
		return ""
	}
	u, err := url.Parse(a.ID)
	if err != nil {
		return ""
	}
	return u.Host
}

// Live reports whether the application may be used at a time: one that nobody registered and no
// user has consented to ends.
func (a App) Live(at time.Time) bool {
	return a.Client == nil || a.Client.ExpiresAt.IsZero() || at.Before(a.Client.ExpiresAt)
}

// Terms identify what a user consented to: redirect_uris, keys and name. If they change, the user
// is asked again. "" for applications that were registered here: their owners vouch for them.
func (a App) Terms() string {
	if a.Client == nil {
		return ""
	}
	c := a.Client
	keys := string(c.Keys)
	if c.KeysURL != "" {
		keys = c.KeysURL // the keys behind it rotate
	}
	uris := slices.Sorted(slices.Values(c.RedirectURIs))
	text, _ := json.Marshal([]any{a.Name, uris, c.AuthMethod, keys}) // texts never fail
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// checkClient returns everything that is wrong with the Client of an application.
func (a App) checkClient() (errs []error) {
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	c := a.Client
	if c == nil {
		if strings.HasPrefix(a.ID, client.DocumentPrefix) || strings.HasPrefix(a.ID, client.DynamicPrefix) {
			complain("client_id: %q is of the form of those that register themselves", a.ID)
		}
		return errs
	}
	switch {
	case c.Kind == client.Document && strings.HasPrefix(a.ID, client.DocumentPrefix), c.Kind == client.Dynamic &&
		strings.HasPrefix(a.ID, client.DynamicPrefix):
	default:
		complain("client: its kind %q does not go with the client_id", c.Kind)
	}
	if len(a.ID) > client.MaxID {
		complain("client_id: at most %d bytes", client.MaxID)
	}
	if !a.Public || a.FirstParty || a.Owner != "" || len(a.Domains)+len(a.RedirectURIs)+len(a.Tiers) > 0 ||
		a.AllowHTTPRedirect {
		complain("client: an application that nobody registered is public, third-party, and has no owner, domains or tiers")
	}
	if len(c.RedirectURIs) > 50 || len(c.RedirectURIs) == 0 && (len(c.Grants) == 0 ||
		slices.Contains(c.Grants, "authorization_code")) {
		complain("redirect_uris: give 1 to 50") // the device grant leads nowhere
	}
	for _, u := range c.RedirectURIs {
		if err := client.CheckRedirect(u); err != nil && !refusedSince(u) {
			complain("redirect_uris: %q: %w", u, err)
		}
	}
	switch c.AuthMethod {
	case client.AuthNone:
	case client.AuthPrivateKeyJWT:
		if (len(c.Keys) == 0) && c.KeysURL == "" || len(c.Keys) > client.MaxKeys {
			complain("client: private_key_jwt needs keys, of at most %d bytes", client.MaxKeys)
		}
	default:
		complain("client: %q is neither none nor private_key_jwt", c.AuthMethod)
	}
	return errs
}

// refusedSince reports whether a redirect_uri may be one that version 0.1 admitted: of a private-use scheme
// that is no agent's. AllowsRedirect refuses it, but the record that it stands in must stay one that can be
// written, or nobody could consent to the application's other redirect_uris or disable it.
func refusedSince(uri string) bool {
	scheme, rest, _ := strings.Cut(uri, ":")
	known := scheme == "https" || scheme == "http" ||
		slices.Contains([]string{"javascript", "data", "vbscript", "file", "blob"}, scheme)
	return !known && strings.HasPrefix(rest, "/") && redirect.CheckCharacters(uri) == nil
}

// Clients returns a page of the applications that nobody registered, in the order of their ids.
func (s *Store) Clients(ctx context.Context, from string, n int) ([]App, string, error) {
	span := driver.Is("client")
	if from != "" {
		span.From = from
	}
	return document.List(ctx, s.docs, Apps, span, n)
}

// RemoveClient removes an application that nobody registered and that has been read before. The
// caller ends its tokens by a revocation of kind app.
func (s *Store) RemoveClient(ctx context.Context, a App) error {
	if a.Client == nil {
		return fmt.Errorf("%w: %s was registered here: use DeleteApp", document.ErrInvalid, a.ID)
	}
	return document.Remove(ctx, s.docs, Apps, a)
}

// KeepClient marks that a user has consented to an application that nobody registered, which so
// does not end. It does nothing for other applications.
func (s *Store) KeepClient(ctx context.Context, id string) error {
	_, err := document.RetryOnConflict(ctx, func() (App, error) {
		a, err := s.App(ctx, id)
		if err != nil || a.Client == nil || !a.Client.KeptAt.IsZero() {
			return a, err
		}
		a.Client.KeptAt, a.Client.ExpiresAt = time.Now().UTC(), time.Time{}
		return s.SaveApp(ctx, a)
	})
	return err
}

var clientHosts = document.Kind[client.Host]{
	Name:    "clienthost",
	ID:      func(h client.Host) string { return h.Host },
	Index:   func(client.Host) []string { return []string{"all"} },
	Version: func(h *client.Host) *int64 { return &h.Version },
}

// ClientHost returns the operator's word on a host, or ErrNotFound.
func (s *Store) ClientHost(ctx context.Context, host string) (client.Host, error) {
	return document.Get(ctx, s.docs, clientHosts, host)
}

// ClientHosts returns all that an operator has said on hosts.
func (s *Store) ClientHosts(ctx context.Context) ([]client.Host, error) {
	return document.All(ctx, s.docs, clientHosts, driver.Is("all"))
}

// ClientHostsFrom returns a page of up to n of ClientHosts by their names, from the start or from a next
// of before.
func (s *Store) ClientHostsFrom(ctx context.Context, from string, n int) ([]client.Host, string, error) {
	return document.Page(ctx, s.docs, clientHosts, "all", from, n)
}

// SetClientHost stores the operator's word on a host; the last of several writers wins.
func (s *Store) SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error) {
	if err := document.RequireFeature(ctx, s.docs, document.DeniedClients); err != nil {
		return client.Host{}, err
	}
	return document.Update(ctx, s.docs, clientHosts, host, func(h *client.Host) bool {
		h.Host, h.Denied, h.UpdatedAt = host, denied, time.Now().UTC()
		return true
	})
}

// ForgetClientHost takes the operator's word on a host back.
func (s *Store) ForgetClientHost(ctx context.Context, h client.Host) error {
	return document.Remove(ctx, s.docs, clientHosts, h)
}
