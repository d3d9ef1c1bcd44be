package remote

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// Proofs says how Require and Mount judge proofs of keys (DPoP, RFC 9449). A proof is good once, and has a nonce of
// this service, which clients are given. Not used with Config.Tokens.
type Proofs struct {
	// Origin of this service, as its clients have it, such as https://api.example.com, for which proofs are made. The
	// resource that a token is for is known by itself. "": proofs for tokens of the Keystile service are refused.
	Origin string

	// Key is that of the nonces, and Once reports whether it is called with an id for the first time, at whichever
	// process, and may forget it at until. Where several processes serve one Origin they need the same Key and a common
	// Once, such as SET NX of Redis: else a client is sent from one to the other for nonces. Both nil: there is one
	// process, which remembers.
	Key  []byte
	Once func(ctx context.Context, id []byte, until time.Time) (bool, error)
}

const minProofKey = 32 // bytes

func (p *Proofs) check() (err error) {
	if p.Origin != "" {
		err = origin.Check("Proofs.Origin", p.Origin)
	}
	switch {
	case (p.Key == nil) != (p.Once == nil):
		return errors.Join(err, errors.New("Proofs.Key and Proofs.Once belong together: set both, or none"))
	case p.Key != nil && len(p.Key) < minProofKey:
		return errors.Join(err, errors.New("Proofs.Key has less than 32 bytes"))
	}
	return err
}

func (p *Proofs) checker() *dpop.Checker {
	c := dpop.Config{Origin: p.Origin, Once: p.Once}
	if key := p.Key; key != nil {
		c.Key = func(context.Context) ([]byte, error) { return key, nil }
	}
	return dpop.New(c)
}

var errUnasked = errors.New("this token is bound to a key, and with CheckEvery the service would be asked without " +
	"its proof: leave CheckEvery out")

// admit judges whether a token may be used in the way that it was sent.
func (v *Verifier) admit(ctx context.Context, caller storage.Caller, bearer string) error {
	if caller.KeyThumbprint == "" {
		return nil
	}
	if v.c.CheckEvery > 0 {
		return refused(errUnasked)
	}
	if caller.Audience == v.c.BaseURL {
		caller.Audience = "" // which is not where this service is
	}
	switch err := v.proofs.Admit(ctx, &caller, bearer); {
	case errors.Is(err, token.ErrInvalid):
		return refused(err)
	case err != nil:
		return unavailable(err)
	}
	return nil
}

// verifies is the Verifier as package dpop has it.
type verifies struct{ *Verifier }

func (v verifies) Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error) {
	return v.verify(ctx, bearer, audiences)
}
