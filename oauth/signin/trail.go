package signin

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

// trail writes what happens here on the audit trail.
type trail struct {
	audit audit
	peer  func(*http.Request) netip.Addr
}

// audit is the trail of the service.
type audit interface {
	Note(e event.Event)
	NoteNow(ctx context.Context, e event.Event) error
}

// newTrail makes a trail; of a nil audit one that writes nothing.
func newTrail(a audit, peer func(*http.Request) netip.Addr) *trail {
	if a == nil {
		a = nowhere{}
	}
	return &trail{a, peer}
}

// nowhere is the audit of a service without one.
type nowhere struct{}

func (nowhere) Note(event.Event)                           {}
func (nowhere) NoteNow(context.Context, event.Event) error { return nil }

// note writes a sign-in on the audit trail, or what somebody tried who is signed in.
func (t *trail) note(r *http.Request, status int, sub string) {
	t.write(r, event.SignIn, event.Event{Status: status, User: sub})
}

// noteRefused writes an attempt of somebody unknown on the audit trail. One against a user is
// named, and so never summed: only what the lock and the delay of the account have let through
// may name one. Anybody can cause all others without end.
func (t *trail) noteRefused(r *http.Request, status int, against string) {
	t.write(r, event.SignIn, event.Event{Status: status, User: against, Anonymous: true})
}

// write writes what came of a request on the audit trail: 303 unless it says otherwise.
func (t *trail) write(r *http.Request, kind string, what event.Event) {
	t.audit.Note(t.event(r, kind, what))
}

// writeNow is write for what must be on the trail before it is answered.
func (t *trail) writeNow(r *http.Request, kind string, what event.Event) error {
	if err := t.audit.NoteNow(r.Context(), t.event(r, kind, what)); err != nil {
		return web.AuditFailed.Because(err)
	}
	return nil
}

// changed writes down what became of something by which a user gets in.
func (t *trail) changed(r *http.Request, sub, what, before, after string) error {
	return t.writeNow(r, event.Account, event.Event{User: sub, Detail: what + ": " + before + " -> " + after})
}

func (t *trail) event(r *http.Request, kind string, what event.Event) event.Event {
	e := reqctx.Event(r, kind, t.peer(r))
	e.Status, e.User, e.App, e.Detail = cmp.Or(what.Status, http.StatusSeeOther), what.User, what.App, what.Detail
	e.Anonymous = what.Anonymous
	return e
}

// hashed is how a text that the trail must not hold is written there: which of two it was
// can be found out by who has the text.
func hashed(text string) string {
	if text == "" {
		return "none"
	}
	return "sha256:" + digestOf(text)
}

// digestOf is enough of a hash to tell two texts apart, and too little to stand for one.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// methodsOf names the methods among some logins, in order.
func methodsOf(all []storage.Login) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.Method
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(slices.Compact(names), " "), "none")
}

// methodsBy names the methods that a user signs in by, as far as anybody here knows.
func methodsBy(ctx context.Context, logins users.LoginStore, sub string) string {
	all, err := logins.Logins(ctx, sub)
	if err != nil {
		return "unknown"
	}
	return methodsOf(all)
}
