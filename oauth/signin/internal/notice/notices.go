// Package notice notifies users by email of changes to their accounts and applications.
//
// # Choices
//
// Users are notified, at their confirmed address, of a sign-in from an unknown browser, of a sign-in method that
// was added or removed, and of a new password or address; other packages notify them of their own changes. A
// changed address is notified to the old one and the new one. A user is sent at most ten such emails an hour,
// counted in the store, and the tenth says so. A notice is stored before the act is answered, and sent within a
// day. Ten notices of one user may wait; one that finds no place in the outbox is dropped and logged, because the
// act must not fail for it. The email is in the language of the user's last sign-in, of one from a new browser in
// that of the sign-in before it, or else in English and Chinese. Text that others have chosen, such as the name of
// an application, is one line of the body and never in the subject; a browser is named as the account page names
// it.
//
// Of the deletion of an account a notice carries the address itself, since nobody knows it when the email is
// sent. Every other one about a user who is gone is sent to nobody.
//
// The first minute of a user has no notice of a sign-in: it is the one of signing up.
package notice

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

// Limits on the number of notices.
const (
	PerUser   = 10 // in an hour, of which the last says that no more follow; and as many may wait
	useful    = 24 * time.Hour
	storeTime = 5 * time.Second // to store one, before the act that it is about is answered
)

// MailKind is the kind of the emails with a notice.
const MailKind = "notice"

// Notices notifies users by email of changes to their accounts and applications.
type Notices struct {
	Outbox   *outbox.Outbox // nil: no notice is sent
	Users    userStore
	Store    store
	Sessions *session.Sessions
	Peer     func(*http.Request) netip.Addr
	Log      *slog.Logger
	Base     string // the service's origin
	Site     string // what emails call the service
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// store keeps how many notices a user was sent, and in which language they sign in.
type store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	Group(ctx context.Context, name string) (groups.Group, error)
}

// Notify notifies an owner by email: a user (a sub), or the managers of group:NAME. It stores the notice and does not
// wait for the email. A user without a confirmed address gets none, and nobody gets more than ten an hour.
func (n *Notices) Notify(ctx context.Context, owner string, what event.Notice) {
	subs, err := admin.People(ctx, n.Store, owner)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		n.Log.WarnContext(ctx, "a notice is not sent", "owner", owner, "kind", what.Kind, "error", err)
	}
	for _, sub := range subs {
		n.NotifyIn(ctx, sub, what, nil)
	}
}

// NotifyIn is Notify in these languages, nil for those of the user's last sign-in, and also to
// addresses that were the user's before.
func (n *Notices) NotifyIn(ctx context.Context, sub string, what event.Notice, langs []page.Lang, also ...string) {
	if n.Outbox == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime) // who has acted may be gone
	defer cancel()
	also = slices.DeleteFunc(also, func(address string) bool { return address == "" })
	err := n.Outbox.Room(ctx, MailKind, sub, PerUser)
	if err == nil {
		err = n.Outbox.Put(ctx, MailKind, sub, useful, promised{sub, what, langs, also})
	}
	if err != nil {
		n.Log.WarnContext(ctx, "a notice is not sent", "sub", sub, "kind", what.Kind, "error", err)
	}
}

// promised is a notice, as it waits in the outbox.
type promised struct {
	User  string       `json:"user"`
	What  event.Notice `json:"what"`
	Langs []page.Lang  `json:"langs,omitempty"`
	Also  []string     `json:"also,omitempty"`
}

// Write writes the notice that was promised, to nobody if the user has no address or was sent
// enough.
func (n *Notices) Write(ctx context.Context, text json.RawMessage) (m outbox.Message, err error) {
	var p promised
	if err := json.Unmarshal(text, &p); err != nil {
		return m, err
	}
	if p.What.Kind == event.NoticeDeleted { // its user is gone, or about to be, and has nobody else to count for
		if m.To = p.Also; len(m.To) > 0 {
			m.Subject, m.Text = n.Text(p.Langs, p.What, false)
		}
		return m, nil
	}
	u, err := n.Users.User(ctx, p.User)
	if errors.Is(err, storage.ErrNotFound) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	to := p.Also
	if u.EmailVerified && u.Email != "" && !slices.Contains(to, u.Email) {
		to = append(to, u.Email)
	}
	if len(to) == 0 {
		return m, nil
	}
	if p.Langs == nil {
		if p.Langs, err = n.LanguagesOf(ctx, p.User); err != nil {
			return m, err
		}
	}
	nth, err := n.countNotice(ctx, p.User)
	if err != nil || nth > PerUser {
		return m, err
	}
	m.To = to
	m.Subject, m.Text = n.Text(p.Langs, p.What, nth == PerUser)
	return m, nil
}

// kindNotified is the kind of the tickets that count the notices to a user.
const kindNotified = "notified"

// countNotice counts one more notice to a user in an hour, and returns its number. Those over the
// limit are not counted, or they would extend it for ever.
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

// NewBrowser checks, before a sign-in, whether the browser is new to the user, and returns the
// function that notifies them. The language is that of an earlier sign-in: this one may be an
// attacker's.
func (n *Notices) NewBrowser(r *http.Request, u storage.User) (notify func()) {
	age := time.Since(u.CreatedAt)
	if n.Outbox == nil || age >= 0 && age < justMade || n.Sessions.Known(r, u.Sub) {
		return func() {}
	}
	langs, err := n.LanguagesOf(r.Context(), u.Sub)
	if err != nil {
		langs = []page.Lang{page.English, page.Chinese}
	}
	return func() { n.NotifyIn(r.Context(), u.Sub, n.FromRequest(r, event.NoticeSignIn, ""), langs) }
}

// FromRequest returns a notice with the time, address and browser of a request.
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
