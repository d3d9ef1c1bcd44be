package gateway

import (
	"net/http"
	"net/http/httptrace"

	"github.com/keystile/keystile/internal/reqctx"
)

// noticing is a transport that notes when a request has begun to go to the service: from
// then on the service may do what it asks for.
type noticing struct{ *http.Transport }

// RoundTrip hangs its note on the trace that the reverse proxy has made for this request
// alone: a second trace would cost each call more.
func (t noticing) RoundTrip(r *http.Request) (*http.Response, error) {
	v := reqctx.From(r.Context())
	if v == nil {
		return t.Transport.RoundTrip(r)
	}
	e := v.Entry.(*entry)
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.WroteHeaders = e.reach
	} else {
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: e.reach}))
	}
	return t.Transport.RoundTrip(r)
}

func (e *entry) reach() { e.reached.Store(true) }

// chargeGone charges a call whose client left before its answer began, if it had reached the
// service: going away is not a way to have work done for nothing (decision 27).
// There is nobody to tell if it cannot be counted; Charge does count that.
func (a *answer) chargeGone() {
	e := a.visit.Entry.(*entry)
	if a.request.Context().Err() == nil || !e.reached.Load() || !a.visit.Known || a.status != 0 {
		return
	}
	if product := e.productOr(a.guard.product); product != "" {
		a.gateway.Charge(a.visit.Caller, product, false)
	}
}
