package reqctx

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Event begins an audit event of a request: what is known before it is answered.
func Event(r *http.Request, kind string, from netip.Addr) event.Event {
	return event.Event{
		At: time.Now(), Kind: kind, RequestID: ID(r.Context()), Method: r.Method, Path: r.URL.Path, IP: from.String(),
		Route: r.Pattern,
	}
}

// By says in an event who did it, for every package that notes what a bearer token was used for: the application that
// it was issued to, the user, and who acts for them by delegation.
func By(e *event.Event, caller *storage.Caller) {
	e.App, e.User, e.Actors = caller.AppID, caller.UserID, caller.Actors
}
