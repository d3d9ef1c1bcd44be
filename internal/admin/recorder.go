package admin

import (
	"cmp"
	"context"
	"slices"
	"time"

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
	Kind    string   // of the event; "": event.Admin
	What    string   // such as "app set"
	On      string   // the id of the changed record
	App     string   // the application it is about, "" if none
	User    string   // the user it is about, a sub
	Changes []string // see AppChanges
}

// Unrecorded says that an act was done, and is not on the audit trail.
type Unrecorded struct{ Cause error }

func (u *Unrecorded) Error() string {
	return "it is done, but the audit trail could not be written: " + u.Cause.Error()
}

func (u *Unrecorded) Unwrap() error { return u.Cause }

// maxDetail is the longest detail of one event, in bytes. The trail cuts longer ones at
// 1,024.
const maxDetail = 1000

// Note writes an act to the audit trail and waits until it is stored. Its error is an [Unrecorded]. A text that is too
// long for one event continues in the next.
func (c Recorder) Note(ctx context.Context, by Actor, a Act) error {
	e := by.Request.Event
	e.Kind, e.App, e.User = cmp.Or(a.Kind, event.Admin), a.App, a.User
	for _, detail := range a.details(by.Name()) {
		e.Detail = detail
		if err := c.Trail.NoteNow(ctx, e); err != nil {
			return &Unrecorded{err}
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
