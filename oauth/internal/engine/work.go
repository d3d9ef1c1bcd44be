package engine

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ory/fosite"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// work is the unit of work of one request. fosite's storage calls read and fill it.
type work struct {
	app  storage.App
	form url.Values
	key  string // that the request has proved; see dpop.go
	now  time.Time

	found  *driver.Token   // the presented code or refresh token, once it has been checked
	stored *fosite.Request // found, as fosite reads it
	spend  bool            // found is to be exchanged
	next   *driver.Token   // to be stored: a code, or the next refresh token
	scope  string          // of the access token
	groups []string        // in it
	brief  bool            // it is that of an assertion
	access string
	handle string // of next
	again  string // the successor of found, which was replaced before and is presented once more; see repeat.go
	lost   bool   // another request has replaced found at the same moment

	refusal  *Refusal // the exact "no", where fosite would blur it
	storeErr error    // the store's own failure
}

type workKey struct{}

func workOf(ctx context.Context) *work { return ctx.Value(workKey{}).(*work) }

func (w *work) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// owned are the parameters that fosite decides about. It reads others too, such as response_mode, audience and
// registration, which are decided before it, or are unknown here and ignored (RFC 6749 3.1, 3.2).
var owned = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"grant_type", "code", "code_verifier", "refresh_token",
}

func (w *work) request(ctx context.Context, method string) *http.Request {
	form := make(url.Values, len(owned))
	for _, name := range owned {
		if values := w.form[name]; values != nil {
			form[name] = values
		}
	}
	r := &http.Request{Method: method, Header: http.Header{}, Form: form, PostForm: form, Body: http.NoBody}
	return r.WithContext(ctx)
}

// authenticated implements fosite's client authentication, which is done before fosite is called.
func authenticated(ctx context.Context, _ *http.Request, _ url.Values) (fosite.Client, error) {
	return client{workOf(ctx)}, nil
}

// noHasher takes the place of fosite's bcrypt; nothing may call it.
type noHasher struct{}

func (noHasher) Compare(context.Context, []byte, []byte) error { return fosite.ErrAccessDenied }
func (noHasher) Hash(context.Context, []byte) ([]byte, error)  { return nil, fosite.ErrAccessDenied }

// client adapts an application to fosite. Its only redirect_uri is the one that has been checked,
// so that fosite's exact match always holds.
type client struct{ w *work }

func (c client) GetID() string                      { return c.w.app.ID }
func (c client) GetHashedSecret() []byte            { return nil }
func (c client) GetResponseTypes() fosite.Arguments { return fosite.Arguments{"code"} }
func (c client) GetScopes() fosite.Arguments        { return strings.Fields(c.w.scope) } // checked already
func (c client) IsPublic() bool                     { return c.w.app.Public }
func (c client) GetAudience() fosite.Arguments      { return nil }

func (c client) GetRedirectURIs() []string {
	if uri := c.w.form.Get("redirect_uri"); uri != "" {
		return []string{uri}
	}
	return nil
}

func (c client) GetGrantTypes() fosite.Arguments { return grantsOf(c.w.app) }

// grantsOf returns the grant types of an application that fosite knows. One that nobody registered has
// those that it has named.
func grantsOf(app storage.App) []string {
	switch {
	case app.Client != nil && len(app.Client.Grants) > 0:
		return app.Client.Grants
	case app.Public:
		return []string{GrantCode, GrantRefresh}
	}
	return []string{GrantCode, GrantRefresh, GrantClientCredentials}
}

// session satisfies fosite; what counts is in the unit of work.
type session struct {
	expires map[fosite.TokenType]time.Time
}

func newSession() *session { return &session{map[fosite.TokenType]time.Time{}} }

func (s *session) SetExpiresAt(k fosite.TokenType, t time.Time) { s.expires[k] = t }
func (s *session) GetExpiresAt(k fosite.TokenType) time.Time    { return s.expires[k] }
func (s *session) GetUsername() string                          { return "" }
func (s *session) GetSubject() string                           { return "" }
func (s *session) Clone() fosite.Session                        { return newSession() }
