// Package trail writes what happens at sign-in on the audit trail.
//
// # Choices
//
// What people change is on the trail, with what was before and what is after, before it is answered.
// Sign-in methods are named; email addresses and passwords are there as eight bytes of a SHA-256, of
// the password's salted hash. Of a host's own passwords the trail says "unknown".
//
// A failed attempt names the user it was against, and is a record of its own: the lock and the delay
// bound how many there are. One that was not looked at, because of them, and one against a name that
// nobody has, name nobody, and the trail sums them.
package trail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Trail writes what happens here on the audit trail.
type Trail struct {
	audit audit
	peer  func(*http.Request) netip.Addr
}

// audit is the trail of the service.
type audit interface {
	Note(e event.Event)
	NoteNow(ctx context.Context, e event.Event) error
}

// New makes a trail; of a nil audit one that writes nothing.
func New(a audit, peer func(*http.Request) netip.Addr) *Trail {
	if a == nil {
		a = noAudit{}
	}
	return &Trail{a, peer}
}

// noAudit is the audit of a service without one.
type noAudit struct{}

func (noAudit) Note(event.Event)                           {}
func (noAudit) NoteNow(context.Context, event.Event) error { return nil }

// SignedIn writes a sign-in on the audit trail, or what somebody tried who is signed in.
func (t *Trail) SignedIn(r *http.Request, status int, sub string) {
	t.Write(r, event.SignIn, event.Event{Status: status, User: sub})
}

// Refused writes an attempt of somebody unknown on the audit trail. One against a user is
// named, and so never summed: only what the lock and the delay of the account have let through
// may name one. Anybody can cause all others without end.
func (t *Trail) Refused(r *http.Request, status int, against string) {
	t.Write(r, event.SignIn, event.Event{Status: status, User: against, Anonymous: true})
}

// Write writes what came of a request on the audit trail: 303 unless it says otherwise.
func (t *Trail) Write(r *http.Request, kind string, what event.Event) {
	t.audit.Note(t.event(r, kind, what))
}

// WriteNow is write for what must be on the trail before it is answered.
func (t *Trail) WriteNow(r *http.Request, kind string, what event.Event) error {
	if err := t.audit.NoteNow(r.Context(), t.event(r, kind, what)); err != nil {
		return web.AuditFailed.Because(err)
	}
	return nil
}

// Changed writes down what became of something by which a user gets in.
func (t *Trail) Changed(r *http.Request, sub, what, before, after string) error {
	return t.WriteNow(r, event.Account, event.Event{User: sub, Detail: what + ": " + before + " -> " + after})
}

func (t *Trail) event(r *http.Request, kind string, what event.Event) event.Event {
	e := reqctx.Event(r, kind, t.peer(r))
	e.Status, e.User, e.App, e.Detail = cmp.Or(what.Status, http.StatusSeeOther), what.User, what.App, what.Detail
	e.Anonymous = what.Anonymous
	return e
}

// Hashed returns how a text that the trail must not hold is written there: which of two it was
// can be found out by who has the text.
func Hashed(text string) string {
	if text == "" {
		return "none"
	}
	return "sha256:" + DigestOf(text)
}

// DigestOf is enough of a hash to tell two texts apart, and too little to stand for one.
func DigestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// MethodsOf names the methods among some logins, in order.
func MethodsOf(all []storage.Login) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.Method
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(slices.Compact(names), " "), "none")
}

// MethodsBy names the methods that a user signs in by, as far as anybody here knows.
func MethodsBy(ctx context.Context, logins users.LoginStore, sub string) string {
	all, err := logins.Logins(ctx, sub)
	if err != nil {
		return "unknown"
	}
	return MethodsOf(all)
}
