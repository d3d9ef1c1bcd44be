// Package issuers reads the keys of issuers that an operator trusts (storage/trust), and of applications that were
// registered with the address of their keys.
//
// Keys are read at the first assertion that needs them, once they are an hour old, and for an unknown key at most
// every five seconds. If they cannot be read then, those that are known stay good for a day: an issuer that is away
// stops nobody at once. A key that the issuer publishes no more is not known from the next reading on. No request
// chooses what is read: that is an address which an operator has named, or the discovery document there.
package issuers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/clientdoc"
	"github.com/keystile/keystile/storage/trust"
)

const (
	fresh = time.Hour       // how long keys are used before they are read again
	pause = 5 * time.Second // between two readings, whatever comes
	kept  = 24 * time.Hour  // how long keys are used that cannot be read again

	maxIssuers  = 4096
	maxDocument = 64 << 10 // bytes of a discovery document, and of a key set
)

// ErrAway is the error of keys that cannot be read, and are not known.
var ErrAway = errors.New("the keys of this issuer cannot be read now")

// Keys remembers the keys of issuers. It is safe for concurrent use.
type Keys struct {
	log   *slog.Logger
	known *cache.Cache[string, *entry]
}

// New makes Keys.
func New(log *slog.Logger) *Keys { return &Keys{log, cache.New[string, *entry](maxIssuers)} }

// entry holds the keys of one issuer. Its turn is with one reader.
type entry struct {
	turn  chan struct{}
	set   token.KeySet
	read  time.Time // when they were last read; zero: never
	tried time.Time // when they were last to be read
}

// Of returns the keys of an issuer. With again they are read anew, unless they have been a moment ago.
func (k *Keys) Of(ctx context.Context, i trust.Issuer, again bool) (token.KeySet, error) {
	name := nameOf(i)
	e, there := k.known.Get(name)
	if !there {
		e = k.known.GetOrPut(name, &entry{turn: make(chan struct{}, 1)})
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return token.KeySet{}, ctx.Err()
	}
	now := time.Now()
	if e.due(now, again) {
		set, err := read(context.WithoutCancel(ctx), i) // for those who wait too
		if e.tried = now; err == nil {
			e.set, e.read = set, now
		} else {
			k.log.WarnContext(ctx, "the keys of an issuer are not read", "issuer", i.Issuer, "why", err, "cause",
				errors.Unwrap(err))
		}
	}
	if e.read.IsZero() || now.Sub(e.read) > kept {
		return token.KeySet{}, ErrAway
	}
	return e.set, nil
}

// nameOf names an issuer with all that decides what is read: with another address it is another one.
func nameOf(i trust.Issuer) string {
	return fmt.Sprintf("%q %q %q", i.Issuer, i.JWKSURI, i.AllowPrivate)
}

// due reports whether keys are to be read.
func (e *entry) due(now time.Time, again bool) bool {
	return (again || e.read.IsZero() || now.Sub(e.read) > fresh) && now.Sub(e.tried) >= pause
}

// read reads the keys of an issuer, where its discovery document says unless the issuer was trusted with an address.
func read(ctx context.Context, i trust.Issuer) (set token.KeySet, err error) {
	fetch, err := clientdoc.New(clientdoc.Config{Allow: i.AllowPrivate, Plain: true})
	if err != nil {
		return set, err
	}
	defer fetch.Close(ctx)
	address := i.JWKSURI
	if address == "" {
		if address, err = discover(ctx, fetch, i.Issuer); err != nil {
			return set, err
		}
	}
	text, err := fetch.JSON(ctx, address, maxDocument)
	if err != nil {
		return set, err
	}
	return token.ReadKeySet(text)
}

// discover returns the jwks_uri of an issuer (OpenID Connect Discovery 4, or RFC 8414 3).
func discover(ctx context.Context, fetch *clientdoc.Fetcher, issuer string) (string, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	origin := u.Scheme + "://" + u.Host
	var errs []error
	for _, address := range []string{origin + path + "/.well-known/openid-configuration",
		origin + "/.well-known/oauth-authorization-server" + path} {
		text, err := fetch.JSON(ctx, address, maxDocument)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var document struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		switch err := json.Unmarshal(text, &document); {
		case err != nil:
			return "", fmt.Errorf("%s is no discovery document", address)
		case document.Issuer != issuer:
			return "", fmt.Errorf("%s is of another issuer: %q", address, document.Issuer)
		case document.Keys == "":
			return "", fmt.Errorf("%s has no jwks_uri", address)
		}
		return document.Keys, nil
	}
	return "", errors.Join(errs...)
}
