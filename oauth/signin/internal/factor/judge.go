package factor

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/totp"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/event"
)

// errRest says that too many wrong codes were typed for an account, so that this one was not looked at.
var errRest = errors.New("signin: codes of this account are not taken now")

// typed holds what was typed on the page: a code of an app, or else a recovery code.
type typed struct{ code, recovery string }

// rests returns errRest if what was typed is not to be judged (decision 97). The codes of an app rest after 20 wrong
// ones, but for a user who has just proved the first factor by email: whoever guesses knows another first factor, and
// is not to go on until the chance of a right guess is worth it. After 100 no code is taken.
func (p Pending) rests(f storage.Factors, t typed) error {
	if f.CodesStopped() || f.CodesRest() && t.code != "" && !p.byEmail() {
		return errRest
	}
	return nil
}

// byEmail reports whether the first factor of a sign-in is a code by email, typed shortly before. A session that
// began with one does not count: it may be a stolen one.
func (p Pending) byEmail() bool {
	first := session.EmailCode
	return p.By.Method == first.Method && p.By.AMR == first.AMR && p.By.RecentAt(p.ticket.CreatedAt)
}

// judge judges what was typed, and uses it up if it is right. In the same step, a wrong one is counted for the
// account, and a right one begins the count anew. Of guesses made in parallel, at however many nodes, each verdict
// is therefore one in the count.
func (s *Factors) judge(ctx context.Context, r *http.Request, p *Pending, t typed) error {
	if p.Level == LevelResistant {
		return storage.ErrNotFound // neither resists phishing, so neither is looked at
	}
	var verdict error
	f, err := s.Change(ctx, p.User.Sub, func(f *storage.Factors) error {
		if err := p.rests(*f, t); err != nil {
			return err
		}
		if verdict = use(f, t, time.Now().UTC()); verdict != nil {
			f.WrongCodes++
		} else {
			f.WrongCodes = 0
		}
		return nil
	})
	p.Factors = f
	switch {
	case err != nil:
		return err
	case verdict != nil:
		s.tellWrong(ctx, r, f)
	case t.code == "":
		s.Notices.Notify(ctx, p.User.Sub, s.Notices.FromRequest(r, event.NoticeAccount,
			"A recovery code was used to sign in."))
	}
	return verdict
}

// tellWrong tells a user, at every fifth, how many wrong codes were typed.
func (s *Factors) tellWrong(ctx context.Context, r *http.Request, f storage.Factors) {
	if f.WrongCodes%authn.WrongCodesTold != 0 {
		return
	}
	what := "Somebody knows how you sign in, and typed wrong codes of your second factor. If it was not you, change " +
		"your password. Wrong codes so far"
	switch {
	case f.CodesStopped():
		what = "Somebody typed so many wrong codes of your second factor that no code is taken any more. Ask the operator " +
			"to let you in. Wrong codes so far"
	case f.CodesRest():
		what = "Somebody typed wrong codes of your second factor. Those of your app rest until you use a recovery code or " +
			"a passkey, or a code by email first. Wrong codes so far"
	}
	s.Notices.Notify(ctx, f.UserID, s.Notices.FromRequest(r, event.NoticeAccount, what+": "+strconv.Itoa(f.WrongCodes)))
}

// Forgive begins the count of a user's wrong codes (a sub) anew, and reports whether there were any.
func (s *Factors) Forgive(ctx context.Context, sub string) (had bool, err error) {
	_, err = s.Change(ctx, sub, func(f *storage.Factors) error {
		if had = f.WrongCodes > 0; !had {
			return errNone
		}
		f.WrongCodes = 0
		return nil
	})
	if errors.Is(err, errNone) {
		err = nil
	}
	return had, err
}

// errNone says that there is nothing to change.
var errNone = errors.New("signin: no wrong codes")

// use uses up a code, once; storage.ErrNotFound means that it is wrong.
func use(f *storage.Factors, t typed, now time.Time) error {
	if t.code != "" {
		return useCode(f, t.code, now)
	}
	return useRecovery(f, t.recovery, now)
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
