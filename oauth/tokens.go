package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/apikeys"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// TokensConfig says how to open Tokens. Zero values are the defaults of the protocol.
type TokensConfig struct {
	BaseURL string // the service's origin, such as https://id.example.com, which is the issuer; required
	Store   Store  // required

	CodeLifetime    time.Duration // 5 minutes (protocol 8)
	AccessLifetime  time.Duration // 168 hours (protocol 8)
	RefreshLifetime time.Duration // 30 days (protocol 8)

	SigningAlg string // of access tokens: ES256 (default), EdDSA or RS256
	// how often expired records are removed from the store: each minute; below 0: never, because another process does
	SweepEvery time.Duration

	// StaleAfter bounds the age of what is known of revocations and changes by other processes,
	// where they share the store. Beyond it no access token is accepted. 10 seconds; at least 2.
	StaleAfter time.Duration

	Log *slog.Logger // nil: slog.Default()

	// audiences besides the service itself (RFC 8707), such as mcpbus.Resources(origin); one that ends in /
	// covers every name right below it
	Resources []string
}

// Tokens verifies and revokes access tokens. It is made before the provider, sign-in and
// everything else that needs tokens, so that all of them share one.
type Tokens struct {
	c        TokensConfig
	keys     *token.Keys
	revoked  *token.Revoked
	verifier *token.Verifier
	apiKeys  *apikeys.Verifier
	callers  callers
	proofs   *dpop.Checker

	keysChanged atomic.Bool // by another process; they are to be read again
	unfollow    func()

	work sync.WaitGroup
	end  context.CancelFunc
}

// OpenTokens reads the signing keys, which it makes in an empty store, and all revocations. It
// reports all errors of the TokensConfig at once. From then until Close, expired records are removed
// from the store and, where other processes share it, what they revoke and change is read.
//
// Where other processes share the store, Tokens follows what they revoke and change, for all packages: these
// ask the Store to be told (OnChange), and one goroutine reads for all of them.
func OpenTokens(ctx context.Context, c TokensConfig) (*Tokens, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	t := &Tokens{c: c, callers: newCallers(), proofs: dpop.New(proofsOf(c))}
	t.unfollow = c.Store.OnChange(t.watchKeys)
	if err := t.read(ctx); err != nil {
		t.unfollow()
		return nil, fmt.Errorf("oauth: %w", err)
	}
	t.verifier = token.NewVerifier(token.VerifierConfig{Issuer: c.BaseURL, Keys: t.keys, Revoked: t.revoked})
	life, end := context.WithCancel(context.Background())
	t.end = end
	t.apiKeys = apikeys.New(apikeys.Config{
		Issuer: c.BaseURL, Store: c.Store, Revoked: t.revoked, Log: c.Log,
		Go: func(do func(context.Context)) { t.work.Go(func() { do(life) }) },
	})
	if c.SweepEvery > 0 {
		t.work.Go(func() { c.Store.SweepEvery(life, c.SweepEvery, t.complain) })
	}
	t.follow(life)
	return t, nil
}

// read reads the signing keys and the revocations.
func (t *Tokens) read(ctx context.Context) (err error) {
	if t.keys, err = token.OpenKeys(ctx, t.c.Store, t.c.SigningAlg); err != nil {
		return fmt.Errorf("signing keys: %w", err)
	}
	if t.revoked, err = token.OpenRevoked(ctx, feed{t.c.Store}); err != nil {
		return fmt.Errorf("revocations: %w", err)
	}
	return nil
}

// complain logs an error of sweeping the store.
func (t *Tokens) complain(err error) {
	if errors.Is(err, storage.ErrClock) { // the error says what it may cost; nothing has failed
		t.c.Log.Warn("the clock cannot be right", "err", err)
		return
	}
	t.c.Log.Error("sweeping failed", "err", err)
}

// Close stops the sweeping and the following of other processes. Requests must be over.
func (t *Tokens) Close(context.Context) error {
	t.unfollow()
	t.end()
	t.work.Wait()
	return nil
}

func (c *TokensConfig) complete() error {
	var errs []error
	if err := origin.Check("BaseURL", c.BaseURL); err != nil {
		errs = append(errs, err)
	}
	if c.Store == nil {
		errs = append(errs, errors.New("Store is missing"))
	}
	c.CodeLifetime = cmp.Or(c.CodeLifetime, 5*time.Minute)
	c.AccessLifetime = cmp.Or(c.AccessLifetime, 168*time.Hour)
	c.RefreshLifetime = cmp.Or(c.RefreshLifetime, 30*24*time.Hour)
	if min(c.CodeLifetime, c.AccessLifetime, c.RefreshLifetime) < 0 {
		errs = append(errs, errors.New("a lifetime is negative"))
	}
	c.SweepEvery = cmp.Or(c.SweepEvery, time.Minute)
	if c.StaleAfter = cmp.Or(c.StaleAfter, 10*time.Second); c.StaleAfter < minStale {
		errs = append(errs, fmt.Errorf("StaleAfter is %s, at least %s is needed", c.StaleAfter, minStale))
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.SigningAlg = cmp.Or(c.SigningAlg, token.ES256)
	if !slices.Contains([]string{token.ES256, token.EdDSA, token.RS256}, c.SigningAlg) {
		errs = append(errs, fmt.Errorf("SigningAlg %q is none of ES256, EdDSA, RS256", c.SigningAlg))
	}
	if len(errs) > 0 {
		return fmt.Errorf("oauth: TokensConfig: %w", errors.Join(errs...))
	}
	return nil
}

// ErrInvalidToken is the error of Verify for a faulty, expired or revoked token.
var ErrInvalidToken = token.ErrInvalid

// Verify returns the caller that a bearer token or an API key identifies; of an API key the AppID is
// storage.KeysAppID. The token's audience must be one of
// audiences, or a name right below one that ends in a slash; without any, the service itself. A
// faulty, expired or revoked token is ErrInvalidToken; any other error means that the token could
// not be verified now.
//
// A token that is bound to a key (RFC 9449) is refused: whoever has it must prove that they hold the key too. Use
// VerifyRequest, or a handler behind gateway.Guard.
func (t *Tokens) Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error) {
	if handle.LooksLikeAPIKey(bearer) {
		return t.apiKeys.Verify(ctx, bearer, audiences...)
	}
	caller, err := t.verifier.Verify(ctx, bearer, audiences...)
	if err == nil && caller.KeyThumbprint != "" {
		err = t.proofs.Admit(ctx, &caller, bearer)
	}
	if err != nil {
		return storage.Caller{}, err
	}
	return caller, nil
}

// VerifyRequest is Verify of the token in the Authorization header of a request, and of the proof that comes with one
// that is bound to a key (RFC 9449 7). It writes the nonce for the client's next proof into the header of the answer.
func (t *Tokens) VerifyRequest(w http.ResponseWriter, r *http.Request, audiences ...string) (storage.Caller, error) {
	c, err := dpop.Read(w.Header(), r)
	if err != nil {
		return storage.Caller{}, err
	}
	return c.Verify(r.Context(), t, audiences...)
}

// Resources returns the audiences that tokens may have besides the service itself.
func (t *Tokens) Resources() []string { return slices.Clone(t.c.Resources) }

// Revoke revokes tokens: in the store first, then here at once. If Until is zero, the revocation
// is kept until everything it can cover has expired.
func (t *Tokens) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	rs = slices.Clone(rs)
	for i := range rs {
		if rs[i].Until.IsZero() {
			rs[i].Until = t.outlives(time.Now())
		}
	}
	return t.revoked.Revoke(ctx, rs...)
}

// outlives returns a time by which everything issued by now has expired, whatever a clock's error.
func (t *Tokens) outlives(now time.Time) time.Time {
	return token.Outlives(now, t.c.CodeLifetime, t.c.AccessLifetime, t.c.RefreshLifetime)
}

// ReloadKeys reads the signing keys again, after a rotation. If that fails, the keys that were
// read before stay in use.
func (t *Tokens) ReloadKeys(ctx context.Context) error {
	err := t.keys.Reload(ctx)
	t.callers.known.Clear() // whose key may have been withdrawn
	return err
}
