// Package notice tells users by email what was done to what is theirs.
//
// # Choices
//
// Users are told, at the address they have proved, of a sign-in from a browser that
// was never signed in with as them, of a sign-in method that was added or removed, and of a new
// password or address; other rooms tell them of what they do. A changed address is told
// to the old one and the new one. A user is sent at most ten such emails an hour, counted in
// the store, and the tenth says so. Notices take at most half of the outbox, and those of one
// user a few places of it; what finds none is dropped and logged, since neither a sign-in nor
// a code must wait for it. The email is in the language of the user's last sign-in, of one from
// a new browser in that of the sign-in before it, or else in English and Chinese. What others
// have chosen, such as the name of an application, is one line of the text and never in the
// subject; a browser is named as the account page names it.
//
// Of a user made within the last minute no sign-in is told: it is the one of signing up.
package notice

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/handle"
)

// How many notices there may be.
const (
	PerUser    = 10                  // in an hour; the last says that no more follow
	maxWaiting = outbox.Capacity / 2 // the other half is for codes, which people wait for
)

// Notices tells users by email what was done to what is theirs.
type Notices struct {
	Outbox   *outbox.Outbox
	Mailer   mailer // nil: nobody is told
	Users    userStore
	Store    store
	Sessions *session.Sessions
	Peer     func(*http.Request) netip.Addr
	Log      *slog.Logger
	Base     string // the service's origin
	Site     string // what emails call the service
	waiting  waiting
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// mailer sends emails.
type mailer interface {
	Send(ctx context.Context, to, subject, text string) error
}

// store keeps how many notices a user was sent, and in which language they sign in.
type store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

// Notify tells a user (a sub) by email what was done to what is theirs. It does not wait:
// whether there is an email is decided beside the request. None is sent to who has no
// address that they have proved, and no more than ten an hour to anybody.
func (n *Notices) Notify(ctx context.Context, sub string, what event.Notice) {
	n.NotifyIn(ctx, sub, what, nil)
}

// NotifyIn is notify in these languages, if they are known already, and also to an address
// that was the user's before.
func (n *Notices) NotifyIn(ctx context.Context, sub string, what event.Notice, langs []page.Lang, also ...string) {
	if n.Mailer == nil {
		return
	}
	if !n.waiting.take(sub) {
		n.Log.WarnContext(ctx, "a notice is not sent: too many are waiting", "sub", sub, "kind", what.Kind)
		return
	}
	if !n.Outbox.Reserve() {
		n.waiting.done(sub)
		n.Log.WarnContext(ctx, "a notice is not sent: the outbox is full", "sub", sub, "kind", what.Kind)
		return
	}
	n.Outbox.Put(func(ctx context.Context) error {
		defer n.waiting.done(sub)
		return n.sendNotice(ctx, sub, what, langs, also)
	})
}

func (n *Notices) sendNotice(ctx context.Context, sub string, what event.Notice, langs []page.Lang, also []string) error {
	u, err := n.Users.User(ctx, sub)
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
	if err != nil || nth > PerUser {
		return err
	}
	if langs == nil {
		if langs, err = n.LanguagesOf(ctx, sub); err != nil {
			return err
		}
	}
	subject, text := n.Text(langs, what, nth == PerUser)
	var errs []error
	for _, address := range to {
		errs = append(errs, n.Mailer.Send(ctx, address, subject, text))
	}
	return errors.Join(errs...)
}

// kindNotified is the kind of the tickets that count the notices to a user.
const kindNotified = "notified"

// countNotice counts one more notice to a user in an hour, and says which it is. Those
// that are too many are not counted: they would never end.
func (n *Notices) countNotice(ctx context.Context, sub string) (nth int, err error) {
	id := handle.Hash(kindNotified + ":" + sub)
	for {
		t, err := n.Store.Ticket(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, err
		}
		now := time.Now().UTC()
		sent := since(t.State, now.Add(-time.Hour))
		if len(sent) >= PerUser {
			return len(sent) + 1, nil
		}
		t.ID, t.Kind, t.State = id, kindNotified, times(append(sent, now))
		t.CreatedAt, t.ExpiresAt = now, now.Add(time.Hour)
		_, err = n.Store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrNotFound) {
			continue // another notice to the same user: look at what it has counted
		}
		return len(sent) + 1, err
	}
}

// LanguagesOf returns the language of a user's last sign-in, or every language if it is not
// known.
func (n *Notices) LanguagesOf(ctx context.Context, sub string) ([]page.Lang, error) {
	all, err := n.Store.Sessions(ctx, sub)
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

// justMade bounds how long after a user is made a sign-in is still that of making them.
const justMade = time.Minute

// NewBrowser looks, before a sign-in, whether the user has to be told of it, and returns
// what tells them. Their language is that of an earlier sign-in: this one may be somebody
// else's.
func (n *Notices) NewBrowser(r *http.Request, u storage.User) (notify func()) {
	age := time.Since(u.CreatedAt)
	if n.Mailer == nil || age >= 0 && age < justMade || n.Sessions.Known(r, u.Sub) {
		return func() {}
	}
	langs, err := n.LanguagesOf(r.Context(), u.Sub)
	if err != nil {
		langs = []page.Lang{page.English, page.Chinese}
	}
	return func() { n.NotifyIn(r.Context(), u.Sub, n.FromRequest(r, event.NoticeSignIn, ""), langs) }
}

// FromRequest begins a notice of what a request does.
func (n *Notices) FromRequest(r *http.Request, kind, detail string) event.Notice {
	return event.Notice{Kind: kind, Detail: detail, At: time.Now().UTC(), IP: n.Peer(r), Agent: web.AgentOf(r)}
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
