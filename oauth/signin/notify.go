package signin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/handle"
)

const (
	noticesOfUser  = 10             // in an hour; the last says that no more follow
	noticesWaiting = outboxRoom / 2 // the other half is for codes, which people wait for
)

// notices tells users by email what was done to what is theirs.
type notices struct {
	outbox   *outbox
	mailer   Mailer // nil: nobody is told
	users    session.Users
	store    noticeStore
	sessions *session.Sessions
	peer     func(*http.Request) netip.Addr
	log      *slog.Logger
	base     string // the service's origin
	site     string // what emails call the service
	waiting  waiting
}

// noticeStore keeps how many notices a user was sent, and in which language they sign in.
type noticeStore interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

// notify tells a user (a sub) by mail what was done to what is theirs. It does not wait:
// whether there is a mail is decided beside the request. None is sent to who has no
// address that they have proved, and no more than ten an hour to anybody.
func (n *notices) notify(ctx context.Context, sub string, what event.Notice) {
	n.tell(ctx, sub, what, nil)
}

// tell is notify in these languages, if they are known already, and also to an address
// that was the user's before.
func (n *notices) tell(ctx context.Context, sub string, what event.Notice, langs []page.Lang, also ...string) {
	if n.mailer == nil {
		return
	}
	if !n.waiting.take(sub) {
		n.log.WarnContext(ctx, "a notice is not sent: too many are waiting", "sub", sub, "kind", what.Kind)
		return
	}
	if !n.outbox.reserve() {
		n.waiting.done(sub)
		n.log.WarnContext(ctx, "a notice is not sent: the outbox is full", "sub", sub, "kind", what.Kind)
		return
	}
	n.outbox.put(func(ctx context.Context) error {
		defer n.waiting.done(sub)
		return n.sendNotice(ctx, sub, what, langs, also)
	})
}

func (n *notices) sendNotice(ctx context.Context, sub string, what event.Notice, langs []page.Lang, also []string) error {
	u, err := n.users.User(ctx, sub)
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
	nth, err := n.countNotice(ctx, sub)
	if err != nil || nth > noticesOfUser {
		return err
	}
	if langs == nil {
		if langs, err = n.spokenBy(ctx, sub); err != nil {
			return err
		}
	}
	subject, text := n.noticeMail(langs, what, nth == noticesOfUser)
	var errs []error
	for _, address := range to {
		errs = append(errs, n.mailer.Send(ctx, address, subject, text))
	}
	return errors.Join(errs...)
}

// kindNotified is the kind of the tickets that count the notices to a user.
const kindNotified = "notified"

// countNotice counts one more notice to a user in an hour, and says which it is. Those
// that are too many are not counted: they would never end.
func (n *notices) countNotice(ctx context.Context, sub string) (nth int, err error) {
	id := handle.Hash(kindNotified + ":" + sub)
	for {
		t, err := n.store.Ticket(ctx, id)
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
		_, err = n.store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrNotFound) {
			continue // another notice to the same user: look at what it has counted
		}
		return len(told) + 1, err
	}
}

// spokenBy returns the language of a user's last sign-in, or every language if it is not
// known.
func (n *notices) spokenBy(ctx context.Context, sub string) ([]page.Lang, error) {
	all, err := n.store.Sessions(ctx, sub)
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
func (n *notices) newBrowser(r *http.Request, u storage.User) (tell func()) {
	age := time.Since(u.CreatedAt)
	if n.mailer == nil || age >= 0 && age < justMade || n.sessions.Known(r, u.Sub) {
		return func() {}
	}
	langs, err := n.spokenBy(r.Context(), u.Sub)
	if err != nil {
		langs = []page.Lang{page.English, page.Chinese}
	}
	return func() { n.tell(r.Context(), u.Sub, n.notice(r, event.NoticeSignIn, ""), langs) }
}

// notice begins a notice of what a request does.
func (n *notices) notice(r *http.Request, kind, detail string) event.Notice {
	return event.Notice{Kind: kind, Detail: detail, At: time.Now().UTC(), IP: n.peer(r), Agent: web.AgentOf(r)}
}

// waiting are the notices that wait in the outbox. They never take all of its room, and those of
// one user never much of it.
type waiting struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by user: those who have any
}

func (n *waiting) take(sub string) bool {
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

func (n *waiting) done(sub string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all--
	if n.of[sub]--; n.of[sub] == 0 {
		delete(n.of, sub)
	}
}

// since reads the times that are after one; times writes them.
func since(text string, after time.Time) (all []time.Time) {
	for word := range strings.FieldsSeq(text) {
		n, _ := strconv.ParseInt(word, 10, 64)
		if at := time.Unix(0, n).UTC(); at.After(after) {
			all = append(all, at)
		}
	}
	return all
}

func times(all []time.Time) string {
	words := make([]string, len(all))
	for i, at := range all {
		words[i] = strconv.FormatInt(at.UnixNano(), 10)
	}
	return strings.Join(words, " ")
}
