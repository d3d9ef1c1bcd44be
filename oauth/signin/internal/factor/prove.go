package factor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage"
)

// prove checks a code of an app or a recovery code and uses it up, unless the guard or the delay of the
// account says to wait. storage.ErrNotFound means that it is wrong, errRest that it was not looked at.
func (s *Factors) prove(r *http.Request, p *Pending, t typed) (throttle attempt.Throttle, err error) {
	if err := p.rests(p.Factors, t); err != nil { // no guess, so it uses up no try
		return throttle, err
	}
	return s.Guarded(r, p, func(ctx context.Context) error { return s.judge(ctx, r, p, t) })
}

// Guarded does an attempt at the second factor of a sign-in that waits: it counts it for the address and for the
// account, and uses up one of the tries before, so that guesses made in parallel are no more than guesses
// made in turn. check returns storage.ErrNotFound for a wrong proof.
func (s *Factors) Guarded(r *http.Request, p *Pending,
	check func(ctx context.Context) error) (throttle attempt.Throttle, err error) {
	ctx, ip := r.Context(), s.Peer(r)
	if wait := s.Guard.Begin(ctx, ip); wait > 0 {
		return attempt.Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { s.Guard.End(ctx, ip, failed) }()
	wait, end := s.Attempts.Turns.Begin(ctx, limits.AccountOf(attempt.SecondFactor, p.User.Sub), network.Of(ip))
	if wait > 0 {
		return attempt.Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { end(failed) }()
	if err := s.try(ctx, p); err != nil {
		return throttle, err
	}
	err = check(ctx)
	if failed = errors.Is(err, storage.ErrNotFound); failed {
		s.Log.InfoContext(ctx, "second factor refused", "sub", p.User.Sub, "ip", ip)
	}
	return throttle, err
}

// try uses up one of the tries.
func (s *Factors) try(ctx context.Context, p *Pending) error {
	for {
		if p.ticket.Tries >= tries || !p.ticket.Live(time.Now()) {
			return ErrEnded
		}
		next := p.ticket
		next.Tries++
		saved, err := s.Store.SaveTicket(ctx, next)
		switch {
		case err == nil:
			p.ticket = saved
			return nil
		case !errors.Is(err, storage.ErrConflict):
			return err
		}
		p.ticket, err = s.Store.Ticket(ctx, next.ID)
		if errors.Is(err, storage.ErrNotFound) {
			return ErrEnded
		}
		if err != nil {
			return err
		}
	}
}
