package signin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// note writes a sign-in on the audit trail, or what somebody tried who is signed in.
func (s *SignIn) note(r *http.Request, status int, sub string) {
	s.write(r, event.SignIn, event.Event{Status: status, User: sub})
}

// noteRefused writes an attempt of somebody unknown on the audit trail. One against a user is
// named, and so never summed: only what the lock and the delay of the account have let through
// may name one. Anybody can cause all others without end.
func (s *SignIn) noteRefused(r *http.Request, status int, against string) {
	s.write(r, event.SignIn, event.Event{Status: status, User: against, Anonymous: true})
}

// write writes what came of a request on the audit trail: 303 unless it says otherwise.
func (s *SignIn) write(r *http.Request, kind string, what event.Event) {
	s.audit.Note(s.event(r, kind, what))
}

// writeNow is write for what must be on the trail before it is answered.
func (s *SignIn) writeNow(r *http.Request, kind string, what event.Event) error {
	if err := s.audit.NoteNow(r.Context(), s.event(r, kind, what)); err != nil {
		return untold.Because(err)
	}
	return nil
}

// changed writes down what became of something by which a user gets in.
func (s *SignIn) changed(r *http.Request, sub, what, before, after string) error {
	return s.writeNow(r, event.Account, event.Event{User: sub, Detail: what + ": " + before + " -> " + after})
}

func (s *SignIn) event(r *http.Request, kind string, what event.Event) event.Event {
	e := reqctx.Event(r, kind, s.peer(r))
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

// waysOf names the methods that a user signs in by, as far as anybody here knows.
func (s *SignIn) waysOf(ctx context.Context, sub string) string {
	all, err := s.logins.Logins(ctx, sub)
	if err != nil {
		return "unknown"
	}
	return methodsOf(all)
}
