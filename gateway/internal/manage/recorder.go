package manage

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Trail is the audit trail.
type Trail interface {
	// NoteNow returns once the event is stored, or says why it is not.
	NoteNow(ctx context.Context, e event.Event) error
}

// Notifier tells users what was done to what is theirs.
type Notifier interface {
	Notify(ctx context.Context, sub string, n event.Notice)
}

// Recorder writes what was done on the audit trail, and tells whom it concerns.
type Recorder struct {
	Trail    Trail
	Notifier Notifier // nil: nobody is told
	ClientIP func(*http.Request) netip.Addr
}

// Act is something that was done.
type Act struct {
	What    string   // such as "app set"
	On      string   // the id of what it was done to
	By      string   // who did it: a sub, or the client_id of an application
	App     string   // the application it is about, "" if none
	User    string   // for whom it was done, a sub
	Changes []string // what is not as it was: see AppChanges
}

// maxDetail is the most that one event holds of an act, in bytes. The trail cuts what has
// more than 1,024.
const maxDetail = 1000

// Note puts an act on the audit trail and waits until it is there. What is too long for one
// event goes on in the next.
func (c Recorder) Note(r *http.Request, a Act) error {
	e := reqctx.Event(r, event.Admin, c.ClientIP(r))
	e.App, e.User = a.App, a.User
	for _, detail := range a.details() {
		e.Detail = detail
		if err := c.Trail.NoteNow(r.Context(), e); err != nil {
			return err
		}
	}
	return nil
}

func (a Act) details() (all []string) {
	head := a.What + " " + a.On + " by " + a.By
	text := head
	for i, change := range a.Changes {
		switch {
		case i == 0:
			text += ": " + change
		case len(text)+len("; ")+len(change) > maxDetail:
			all = append(all, text)
			text = head + ", continued: " + change
		default:
			text += "; " + change
		}
	}
	return append(all, text)
}

// Tell tells users, each once, what was done to what is theirs. "" is nobody.
func (c Recorder) Notify(r *http.Request, n event.Notice, subs ...string) {
	if c.Notifier == nil {
		return
	}
	n.At, n.IP, n.Agent = time.Now(), c.ClientIP(r), r.UserAgent()
	for i, sub := range subs {
		if sub != "" && !slices.Contains(subs[:i], sub) {
			c.Notifier.Notify(r.Context(), sub, n)
		}
	}
}

// AppNotice says what its owner is told of a change of an application; ok is false if it
// is nothing that somebody else could use.
func AppNotice(before, after storage.App) (n event.Notice, ok bool) {
	what := apps.Grave(before, after)
	return event.Notice{Kind: event.NoticeApp, App: after.Name, Detail: "changed: " + what}, what != ""
}

// What owners are told of secrets.
const (
	DetailCreated = "application made, its secret shown"
	DetailRotated = "secret rotated"
)

// DeletedNotice says what its owner is told when an application was deleted.
func DeletedNotice(a storage.App) event.Notice {
	return event.Notice{Kind: event.NoticeApp, App: a.Name, Detail: "application deleted"}
}

// SecretNotice says what its owner is told when a secret of an application was shown.
func SecretNotice(a storage.App, detail string) event.Notice {
	return event.Notice{Kind: event.NoticeSecret, App: a.Name, Detail: detail}
}
