package factor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/totp"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// prove checks a code of an app or a recovery code and uses it up, unless the guard or the delay of the
// account says to wait. storage.ErrNotFound means that it is wrong.
func (s *Factors) prove(r *http.Request, p *Pending, code, recovery string) (throttle attempt.Throttle, err error) {
	return s.Guarded(r, p, func(ctx context.Context) error {
		return s.use1(ctx, r, p, code, recovery)
	})
}

// Guarded does an attempt at the second factor of a sign-in that waits: it counts it for the address and for the
// account, and uses up one of the tries before, so that guesses made in parallel are no more than guesses
// made in turn. check returns storage.ErrNotFound for a wrong proof.
func (s *Factors) Guarded(r *http.Request, p *Pending, check func(ctx context.Context) error) (throttle attempt.Throttle, err error) {
	ctx, ip := r.Context(), s.Peer(r)
	if wait := s.Guard.Begin(ctx, ip); wait > 0 {
		return attempt.Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { s.Guard.End(ctx, ip, failed) }()
	account := limits.AccountOf("second factor", p.User.Sub)
	if wait := s.Attempts.Delays.Begin(ctx, account); wait > 0 {
		return attempt.Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { s.Attempts.Delays.End(ctx, account, failed) }()
	if err := s.try(ctx, p); err != nil {
		return throttle, err
	}
	err = check(ctx)
	if failed = errors.Is(err, storage.ErrNotFound); failed {
		s.Log.InfoContext(ctx, "second factor refused", "sub", p.User.Sub, "ip", ip)
		if p.ticket.Tries == tries {
			s.Notices.Notify(ctx, p.User.Sub, s.Notices.FromRequest(r, event.NoticeAccount, "Somebody knows how you sign in, and has typed five wrong codes of your second factor. If it was not you, change your password."))
		}
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

// use1 uses up a code, once.
func (s *Factors) use1(ctx context.Context, r *http.Request, p *Pending, code, recovery string) error {
	if p.Level == LevelResistant {
		return storage.ErrNotFound // neither resists phishing
	}
	now := time.Now().UTC()
	f, err := s.Change(ctx, p.User.Sub, func(f *storage.Factors) error {
		if code != "" {
			return useCode(f, code, now)
		}
		return useRecovery(f, recovery, now)
	})
	if err != nil {
		return err
	}
	p.Factors = f
	if code == "" {
		s.Notices.Notify(ctx, p.User.Sub, s.Notices.FromRequest(r, event.NoticeAccount, "A recovery code was used to sign in."))
	}
	return nil
}

func useCode(f *storage.Factors, typed string, now time.Time) error {
	if f.Authenticator == nil {
		return storage.ErrNotFound
	}
	step, right := totp.Check(f.AppSecret.Reveal(), totp.Typed(typed), now, f.Authenticator.LastStep)
	if !right {
		return storage.ErrNotFound
	}
	f.Authenticator = new(*f.Authenticator)
	f.Authenticator.LastStep, f.Authenticator.UsedAt = step, now
	return nil
}
