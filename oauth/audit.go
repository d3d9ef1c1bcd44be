package oauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage/event"
)

// Audit records what the provider does; *gateway.Trail implements it.
type Audit interface {
	// Note takes an event and does not wait until it is stored.
	Note(e event.Event)
	// NoteNow returns once the event is stored, or the error that kept it from being stored.
	NoteNow(ctx context.Context, e event.Event) error
}

// noAudit is the Audit of a host without an audit trail.
type noAudit struct{}

func (noAudit) Note(event.Event)                           {}
func (noAudit) NoteNow(context.Context, event.Event) error { return nil }

func (k *core) newEvent(r *http.Request, kind string) *event.Event {
	e := reqctx.Event(r, kind, k.c.ClientIP(r))
	return &e
}

// completeEvent sets the latency and the status of an event.
func completeEvent(e *event.Event, err error) {
	e.Latency, e.Status = time.Since(e.At), http.StatusOK
	if err != nil {
		e.Status = reply.FailureOf(err).Status
	}
}

// notedRefusal returns the error of a token request. Of a user whom the application does not admit, the event says so.
func notedRefusal(e *event.Event, err error) error {
	if refused, ok := errors.AsType[*engine.Refusal](err); ok && refused.User != "" {
		e.User, e.Detail, e.Anonymous = refused.User, e.Detail+": "+event.DetailNotAdmitted, false
	}
	return err
}
