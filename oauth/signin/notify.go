package signin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/handle"
)

const (
	noticesOfUser  = 10             // in an hour; the last says that no more follow
	noticesWaiting = outboxRoom / 2 // the other half is for codes, which people wait for
)

// Notify tells a user (a sub) by mail what was done to what is theirs. It does not wait:
// whether there is a mail is decided beside the request. None is sent to who has no
// address that they have proved, and no more than ten an hour to anybody.
func (s *SignIn) Notify(ctx context.Context, sub string, n event.Notice) {
	s.tell(ctx, sub, n, nil)
}

// tell is Notify in these languages, if they are known already, and also to an address
// that was the user's before.
func (s *SignIn) tell(ctx context.Context, sub string, n event.Notice, langs []page.Lang, also ...string) {
	m := &s.members
	if m.mailer == nil {
		return
	}
	if !m.notices.take(sub) {
		s.log.WarnContext(ctx, "a notice is not sent: too many are waiting", "sub", sub, "kind", n.Kind)
		return
	}
	if !m.outbox.reserve() {
		m.notices.done(sub)
		s.log.WarnContext(ctx, "a notice is not sent: the outbox is full", "sub", sub, "kind", n.Kind)
		return
	}
	m.outbox.put(func(ctx context.Context) error {
		defer m.notices.done(sub)
		return s.sendNotice(ctx, sub, n, langs, also)
	})
}

func (s *SignIn) sendNotice(ctx context.Context, sub string, n event.Notice, langs []page.Lang, also []string) error {
	u, err := s.users.User(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	to := slices.DeleteFunc(slices.Clone(also), func(address string) bool { return address == "" })
	if u.EmailVerified && u.Email != "" && !slices.Contains(to, u.Email) {
		to = append(to, u.Email)
	}
	if len(to) == 0 {
		return nil
	}
	nth, err := s.countNotice(ctx, sub)
	if err != nil || nth > noticesOfUser {
		return err
	}
	if langs == nil {
		if langs, err = s.spokenBy(ctx, sub); err != nil {
			return err
		}
	}
	subject, text := s.noticeMail(langs, n, nth == noticesOfUser)
	var errs []error
	for _, address := range to {
		errs = append(errs, s.members.mailer.Send(ctx, address, subject, text))
	}
	return errors.Join(errs...)
}

// kindNotified is the kind of the tickets that count the notices to a user.
const kindNotified = "notified"

// countNotice counts one more notice to a user in an hour, and says which it is. Those
// that are too many are not counted: they would never end.
func (s *SignIn) countNotice(ctx context.Context, sub string) (nth int, err error) {
	id := handle.Hash(kindNotified + ":" + sub)
	for {
		t, err := s.store.Ticket(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, err
		}
		now := time.Now().UTC()
		told := since(t.State, now.Add(-time.Hour))
		if len(told) >= noticesOfUser {
			return len(told) + 1, nil
		}
		t.ID, t.Kind, t.State = id, kindNotified, times(append(told, now))
		t.CreatedAt, t.ExpiresAt = now, now.Add(time.Hour)
		_, err = s.store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrNotFound) {
			continue // another notice to the same user: look at what it has counted
		}
		return len(told) + 1, err
	}
}

// spokenBy returns the language of a user's last sign-in, or every language if it is not
// known.
func (s *SignIn) spokenBy(ctx context.Context, sub string) ([]page.Lang, error) {
	all, err := s.store.Sessions(ctx, sub)
	if err != nil {
		return nil, err
	}
	var last storage.Session
	for _, v := range all {
		if v.Lang != "" && v.AuthTime.After(last.AuthTime) {
			last = v
		}
	}
	if last.Lang == "" {
		return []page.Lang{page.English, page.Chinese}, nil
	}
	return []page.Lang{page.Lang(last.Lang)}, nil
}

// justMade is how long after a user is made a sign-in is still that of making them.
const justMade = time.Minute

// newBrowser looks, before a sign-in, whether the user has to be told of it, and returns
// what tells them. Their language is that of an earlier sign-in: this one may be somebody
// else's.
func (s *SignIn) newBrowser(r *http.Request, u storage.User) (tell func()) {
	age := time.Since(u.CreatedAt)
	if s.members.mailer == nil || age >= 0 && age < justMade || s.known(r, u.Sub) {
		return func() {}
	}
	langs, err := s.spokenBy(r.Context(), u.Sub)
	if err != nil {
		langs = []page.Lang{page.English, page.Chinese}
	}
	return func() { s.tell(r.Context(), u.Sub, s.notice(r, event.NoticeSignIn, ""), langs) }
}

// notice begins a notice of what a request does.
func (s *SignIn) notice(r *http.Request, kind, detail string) event.Notice {
	return event.Notice{Kind: kind, Detail: detail, At: time.Now().UTC(), IP: s.peer(r), Agent: agentOf(r)}
}

// notices are those that wait in the outbox. They never take all of its room, and those of
// one user never much of it.
type notices struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by user: those who have any
}

func (n *notices) take(sub string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all >= noticesWaiting || n.of[sub] >= noticesOfUser {
		return false
	}
	if n.of == nil {
		n.of = map[string]int{}
	}
	n.all++
	n.of[sub]++
	return true
}

func (n *notices) done(sub string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all--
	if n.of[sub]--; n.of[sub] == 0 {
		delete(n.of, sub)
	}
}
