package dpop

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
)

// Config holds the parameters of New.
type Config struct {
	Origin string // of the service, such as https://id.example.com
	// Key returns the key of nonces, the same at all processes of the service. nil: there is one process.
	Key func(ctx context.Context) ([]byte, error)
	// Once reports whether it is called with an id for the first time, at whichever process; it may forget it at until.
	// nil: there is one process, which remembers.
	Once func(ctx context.Context, id []byte, until time.Time) (bool, error)
}

// Checker judges proofs.
type Checker struct {
	c      Config
	reader reader
	nonces nonces
	memory memory
	now    func() time.Time // by which nonces are dated
}

// New makes a Checker.
func New(c Config) *Checker {
	k := &Checker{c: c, reader: newReader(), nonces: nonces{key: c.Key}, memory: memory{limit: maxRemembered}}
	k.now = time.Now
	if c.Key == nil {
		k.nonces.key = drawnKey()
		began := time.Now() // a clock that is set back must not bring a nonce back
		k.now = func() time.Time { return began.Add(time.Since(began)) }
	}
	return k
}

// Shared returns a Key for Config by what reads the key that the processes share; it is read once.
func Shared(read func(ctx context.Context) (storage.Secret, error)) func(context.Context) ([]byte, error) {
	var mu sync.Mutex
	var key []byte
	return func(ctx context.Context) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if key == nil {
			s, err := read(ctx)
			if err != nil {
				return nil, err
			}
			key = []byte(s.Reveal())
		}
		return key, nil
	}
}

// Key returns the thumbprint of the key that a token request has a proof of, "" if it has no proof. The error is a
// *Refusal if the proof is not good.
func (k *Checker) Key(answer http.Header, r *http.Request) (thumbprint string, err error) {
	if r.Header[HeaderProof] == nil {
		return "", nil
	}
	s := &sent{proofs: r.Header[HeaderProof], method: r.Method, path: pathOf(r), answer: answer}
	p, err := k.judge(s, k.c.Origin, "")
	if err != nil {
		return "", err
	}
	return p.thumbprint, k.useUp(r.Context(), s, p)
}

// Admit judges whether a caller's token may be used in the way that it was sent: where it is bound to a key, ctx must
// be the one that [Credentials.Verify] has made of a request with a good proof. It fails with a *Refusal.
func (k *Checker) Admit(ctx context.Context, caller *storage.Caller, access string) error {
	if caller.KeyThumbprint == "" {
		return nil // Credentials.Verify refuses it with the scheme DPoP
	}
	s, _ := ctx.Value(sentKey{}).(*sent)
	switch {
	case s == nil:
		return sentAsBearer
	case s.proven == caller.KeyThumbprint:
		return nil
	}
	p, err := k.judge(s, originOf(caller.Audience), TokenHash(access))
	switch {
	case err != nil:
		return err
	case p.thumbprint != caller.KeyThumbprint:
		return &Refusal{Name: InvalidToken, Reason: "the access token is bound to another key than that of the DPoP proof"}
	}
	if err := k.useUp(ctx, s, p); err != nil {
		return err
	}
	s.proven = p.thumbprint
	return nil
}

// judge judges all of a proof but whether it comes for the first time. A resource may have another origin than the
// service: also is that one.
func (k *Checker) judge(s *sent, also, token string) (p proof, err error) {
	switch len(s.proofs) {
	case 0:
		return p, wrong("is missing: send one in the header DPoP")
	case 1:
	default:
		return p, wrong("is there twice: send one header DPoP")
	}
	if p, err = k.reader.read(s.proofs[0], time.Now()); err != nil {
		return p, err
	}
	switch {
	case p.method != s.method:
		return p, wrong("is for another method (htm)")
	case !s.isAt(p.address, k.c.Origin, also):
		return p, wrong("is for another address (htu)")
	case token != "" && subtle.ConstantTimeCompare([]byte(p.token), []byte(token)) != 1:
		return p, wrong("is for another access token (ath)")
	}
	return p, nil
}

// useUp checks the nonce of a proof, and that it comes for the first time.
func (k *Checker) useUp(ctx context.Context, s *sent, p proof) error {
	now := k.now()
	at, good, err := k.nonces.read(ctx, p.nonce, now)
	if err != nil {
		return err
	}
	is := tooOld
	if good {
		if is, err = k.once(ctx, p, at, now); err != nil {
			return err
		}
	}
	if is == repeated {
		return wrong("was used before: sign another one, with another jti")
	}
	if is == first && now.Sub(at) < nonceRenew {
		return nil
	}
	next, err := k.nonces.fresh(ctx, now)
	switch {
	case err != nil:
		return err
	case is == tooOld:
		return &Refusal{Name: UseNonce, Nonce: next,
			Reason: "the DPoP proof needs a nonce of ours that is not old: sign another one with that of the header DPoP-Nonce"}
	}
	s.answer[HeaderNonce] = []string{next}
	return nil
}

func (k *Checker) once(ctx context.Context, p proof, nonce, now time.Time) (verdict, error) {
	id := proofID(sha256.Sum256([]byte(p.thumbprint + p.jti))) // thumbprints have one length
	if k.c.Once == nil {
		return k.memory.add(id, nonce, now), nil
	}
	isFirst, err := k.c.Once(ctx, id[:], nonce.Add(nonceLife+nonceAhead))
	if err != nil || isFirst {
		return first, err
	}
	return repeated, nil
}
