package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// Config holds what New needs. Zero values are the defaults.
type Config struct {
	BaseURL   string   // the origin of the Keystile service, such as https://id.example.com; required
	Audiences []string // what tokens must be for, one of these (RFC 8707); nil: BaseURL, the service itself

	// Tokens verifies in place of the published keys, for a service that runs in the process of the Keystile service:
	// the *oauth.Tokens there, which knows of revocations at once and verifies API keys too. nil: keys are fetched.
	Tokens interface {
		Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
	}

	RefreshEvery time.Duration // how old keys may be until they are fetched again; 5 minutes
	StaleAfter   time.Duration // how old they may be where that fails; 1 hour
	Pause        time.Duration // the least time between two fetches; 10 seconds
	Timeout      time.Duration // of one request to the service; 5 seconds

	// CheckEvery makes the Verifier ask the service about each token, and caches the answer for this
	// long: a revoked token is accepted no longer than that. 0: it does not ask. It is for tokens of
	// the service itself, without Audiences.
	CheckEvery time.Duration

	Proofs Proofs // by which the senders of tokens that are bound to a key prove it (RFC 9449)

	AllowPlainHTTP bool         // BaseURL may be http: beyond this machine, anybody on the path can send keys of their own
	Client         *http.Client // nil: one of its own. It follows no redirects
	CacheSize      int          // good tokens to remember, 1 KB each; 0: 100,000
	Log            *slog.Logger // nil: slog.Default()
}

// Verifier verifies access tokens. It needs no closing.
type Verifier struct {
	c      Config
	tokens *token.Published
	keys   keys
	checks checks
	client *http.Client
	proofs *dpop.Checker
}

// New makes a Verifier. It reports everything that is wrong with the Config at once. It sends no
// request yet, so the service may be down: see Ready.
func New(_ context.Context, c Config) (*Verifier, error) {
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	v := &Verifier{c: c, tokens: token.NewPublished(c.BaseURL, c.CacheSize), checks: newChecks(c.CacheSize),
		client: &client, proofs: c.Proofs.checker()}
	v.keys.turn = make(chan struct{}, 1)
	v.keys.state.Store(new(fetched))
	return v, nil
}

func (c *Config) complete() error {
	errs := []error{origin.Check("BaseURL", c.BaseURL)}
	u, err := url.Parse(c.BaseURL)
	if err == nil && u.Scheme == "http" && !c.AllowPlainHTTP && !isLoopback(u.Hostname()) {
		errs = append(errs, errors.New("BaseURL is not https: keys that came over http could be anybody's (see "+
			"AllowPlainHTTP)"))
	}
	c.Audiences = slices.Clone(c.Audiences)
	if c.CheckEvery > 0 && len(c.Audiences) > 0 {
		errs = append(errs, errors.New("CheckEvery is for tokens of the service itself: leave Audiences out, or CheckEvery"))
	}
	if c.CheckEvery > 0 && c.Tokens != nil {
		errs = append(errs, errors.New("the Tokens know of revocations at once: leave CheckEvery out"))
	}
	for _, d := range []struct {
		name     string
		value    *time.Duration
		fallback time.Duration
	}{
		{"RefreshEvery", &c.RefreshEvery, 5 * time.Minute}, {"StaleAfter", &c.StaleAfter, time.Hour},
		{"Pause", &c.Pause, 10 * time.Second}, {"Timeout", &c.Timeout, 5 * time.Second}, {"CheckEvery", &c.CheckEvery, 0},
	} {
		if *d.value = cmp.Or(*d.value, d.fallback); *d.value < 0 {
			errs = append(errs, fmt.Errorf("%s is negative", d.name))
		}
	}
	errs = append(errs, c.Proofs.check())
	if c.StaleAfter < c.RefreshEvery {
		errs = append(errs, errors.New("StaleAfter is not shorter than RefreshEvery"))
	}
	if c.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = maxChecks
		c.Client = &http.Client{Transport: transport}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return errors.Join(errs...)
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Error reports why a token is not accepted.
type Error struct {
	Status     int           // 401: it is no good; 429: its application is over its rate; 503: it cannot be verified now
	RetryAfter time.Duration // of 429 and 503
	Err        error         // for the log; it quotes nothing of the token
}

func (e *Error) Error() string { return "remote: " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func refused(err error) error { return &Error{Status: http.StatusUnauthorized, Err: err} }

func unavailable(err error) error {
	return &Error{Status: http.StatusServiceUnavailable, RetryAfter: time.Second, Err: err}
}

// errAPIKey is the refusal of an API key, which is no JWT.
var errAPIKey = errors.New("this is an API key, which only the service itself can verify: ask it at " +
	"/oauth/introspect or /api/v1/verify")

// Verify returns the caller that a bearer token identifies: its application, its user, if there
// is one, and its scope. The error is an *Error. API keys are refused without Config.Tokens: see the package. So is a
// token that is bound to a key, whose sender has to prove it: Require and Mount see to that.
func (v *Verifier) Verify(ctx context.Context, bearer string) (storage.Caller, error) {
	return v.verify(ctx, bearer, v.c.Audiences)
}

func (v *Verifier) verify(ctx context.Context, bearer string, audiences []string) (storage.Caller, error) {
	if v.c.Tokens != nil {
		caller, err := v.c.Tokens.Verify(ctx, bearer, audiences...)
		switch {
		case errors.Is(err, token.ErrInvalid):
			return storage.Caller{}, refused(err)
		case err != nil:
			return storage.Caller{}, unavailable(err)
		}
		return caller, nil
	}
	if handle.LooksLikeAPIKey(bearer) {
		return storage.Caller{}, refused(errAPIKey)
	}
	var caller storage.Caller
	err := v.byKeys(ctx, func() (err error) {
		caller, err = v.tokens.Verify(bearer, audiences...)
		return err
	})
	if err == nil {
		err = v.admit(ctx, caller, bearer)
	}
	if err == nil && v.c.CheckEvery > 0 {
		err = v.check(ctx, bearer, caller.ExpiresAt)
	}
	if err != nil {
		return storage.Caller{}, err
	}
	return caller, nil
}

// byKeys verifies by the published keys, once more if they had to be fetched for it. Its error is an *Error.
func (v *Verifier) byKeys(ctx context.Context, verify func() error) error {
	if err := v.ready(ctx); err != nil {
		return err
	}
	seen := v.keys.state.Load()
	err := verify()
	if errors.Is(err, token.ErrUnknownKey) {
		now, failed := v.renew(ctx, seen)
		if failed != nil {
			return unavailable(failed)
		}
		if now != seen {
			err = verify()
		}
	}
	if err != nil {
		return refused(err)
	}
	return nil
}
