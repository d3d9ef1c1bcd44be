package oauth

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage/event"
)

// Audit is where this room writes down what it does; *gateway.Gateway has it.
type Audit interface {
	// Note takes an event and does not wait until it is stored.
	Note(e event.Event)
	// NoteNow returns when the event is stored, or why it is not.
	NoteNow(ctx context.Context, e event.Event) error
}

// noAudit is the trail of a host that keeps none.
type noAudit struct{}

func (noAudit) Note(event.Event)                           {}
func (noAudit) NoteNow(context.Context, event.Event) error { return nil }

// newEvent begins the audit event of a request.
func (s *Server) newEvent(r *http.Request, kind string) *event.Event {
	e := reqctx.Event(r, kind, s.c.ClientIP(r))
	return &e
}

// completeEvent completes an event by what came of the request.
func completeEvent(e *event.Event, err error) {
	e.Latency, e.Status = time.Since(e.At), http.StatusOK
	if err != nil {
		e.Status = reply.FailureOf(err).Status
	}
}
