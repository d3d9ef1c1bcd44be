package gateway

import (
	"net/http"
	"net/http/httptrace"

	"github.com/keystile/keystile/internal/reqctx"
)

// reachTransport is a transport that records when a request begins to reach the service: from
// then on the service may act on it.
type reachTransport struct{ next http.RoundTripper }

// RoundTrip adds its hook to the trace that the reverse proxy has made for this request: a
// second trace would cost each call more.
func (t reachTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	v := reqctx.From(r.Context())
	if v == nil {
		return t.next.RoundTrip(r)
	}
	e := v.Entry.(*entry)
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.WroteHeaders = e.reach
	} else {
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: e.reach}))
	}
	return t.next.RoundTrip(r)
}

func (e *entry) reach() { e.reached.Store(true) }

// chargeAbandoned charges a call whose client left before its answer began, if it had reached the
// service: going away is not a way to have work done for nothing (decision 27). No client is
// left to hear that it cannot be counted; Charge counts such failures.
func (a *answer) chargeAbandoned() {
	e := a.visit.Entry.(*entry)
	if a.request.Context().Err() == nil || !e.reached.Load() || !a.visit.Known || a.status != 0 {
		return
	}
	if e.productOr(a.guard.product) != "" {
		a.charge(false)
	}
}
