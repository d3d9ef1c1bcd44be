package admin

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Trail is the audit trail.
type Trail interface {
	// NoteNow returns once the event is stored, or why it is not.
	NoteNow(ctx context.Context, e event.Event) error
}

// Notifier tells users of changes to their account and applications.
type Notifier interface {
	// Notify does not wait for the delivery.
	Notify(ctx context.Context, sub string, n event.Notice)
}

// Recorder writes acts to the audit trail, and notifies the users whom they concern.
type Recorder struct {
	Trail    Trail
	Notifier Notifier // nil: nobody is notified
}

// Act describes a change for the audit trail.
type Act struct {
	What    string   // such as "app set"
	On      string   // the id of the changed record
	App     string   // the application it is about, "" if none
	User    string   // the user it is about, a sub
	Changes []string // see AppChanges
}

// maxDetail is the longest detail of one event, in bytes. The trail cuts longer ones at
// 1,024.
const maxDetail = 1000

// Note writes an act to the audit trail and waits until it is stored. What is too long for
// one event continues in the next.
func (c Recorder) Note(ctx context.Context, by Actor, a Act) error {
	e := by.Request.Event
	e.Kind, e.App, e.User = event.Admin, a.App, a.User
	for _, detail := range a.details(by.Name()) {
		e.Detail = detail
		if err := c.Trail.NoteNow(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (a Act) details(by string) (all []string) {
	head := a.What + " " + a.On + " by " + by
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

// byOperator begins the detail of a notice of what the operator did at the command line: there is no address and no
// browser by which its reader could tell.
const byOperator = "by the operator: "

// Notify sends a notice to users, each once. "" is nobody.
func (c Recorder) Notify(ctx context.Context, by Actor, n event.Notice, subs ...string) {
	if c.Notifier == nil {
		return
	}
	n.At, n.IP, n.Agent = time.Now(), by.Request.IP, by.Request.Agent
	if by.Operator != "" {
		n.Detail = byOperator + n.Detail
	}
	for i, sub := range subs {
		if sub != "" && !slices.Contains(subs[:i], sub) {
			c.Notifier.Notify(ctx, sub, n)
		}
	}
}

// AppNotice returns the notice for a change of an application; ok is false if the change
// is of no use to an attacker.
func AppNotice(before, after storage.App) (n event.Notice, ok bool) {
	what := apps.Grave(before, after)
	return event.Notice{Kind: event.NoticeApp, App: after.Name, Detail: "changed: " + what}, what != ""
}

// Details of notices about secrets.
const (
	DetailCreated = "application made, its secret shown"
	DetailRotated = "secret rotated"
)

// DeletedNotice returns the notice for a deleted application.
func DeletedNotice(a storage.App) event.Notice {
	return event.Notice{Kind: event.NoticeApp, App: a.Name, Detail: "application deleted"}
}

// SecretNotice returns the notice for a secret of an application that was shown.
func SecretNotice(a storage.App, detail string) event.Notice {
	return event.Notice{Kind: event.NoticeSecret, App: a.Name, Detail: detail}
}
