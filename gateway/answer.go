package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/visit"
	"github.com/keystile/keystile/storage"
)

// answer is the answer of a guarded service on its way out. Before its first byte leaves,
// the call is charged; when it is over, it is written on the audit trail.
type answer struct {
	http.ResponseWriter
	gateway  *Gateway
	request  *http.Request
	visit    *visit.Visit
	guard    *guard
	began    time.Time
	status   int
	bytes    int64
	ours     bool // the answer is the gateway's own, not the service's
	withheld bool // a 503 went out in its place
}

// begin notes the status and charges the call, if there is something to charge. Only the
// first status counts. Where the call can not be charged its answer must not leave: a 503
// goes out in its place.
func (a *answer) begin(status int) (goes bool) {
	if a.status != 0 {
		return !a.withheld
	}
	a.status = status
	if !a.charged() {
		return true
	}
	product := a.visit.Entry.(*entry).productOr(a.guard.product)
	err := a.gateway.Charge(a.visit.Caller, product, status >= 500)
	if err == nil {
		return true
	}
	a.withheld, a.status = true, http.StatusServiceUnavailable
	for name := range a.Header() { // what the service has said of its answer
		if name != visit.Header && name != "Vary" && !strings.HasPrefix(name, "Access-Control-") {
			a.Header().Del(name)
		}
	}
	a.gateway.refuse(a.ResponseWriter, a.request, notCharged.Because(err))
	return false
}

// charged: each call that came past the rate into a product, and never what we refuse or
// fail at ourselves.
func (a *answer) charged() bool {
	switch {
	case a.ours || !a.visit.Known || a.visit.Entry.(*entry).productOr(a.guard.product) == "":
		return false
	case a.status == http.StatusUnauthorized || a.status == http.StatusTooManyRequests:
		return false
	case a.status >= 500:
		return !a.guard.own
	}
	return true
}

func (a *answer) WriteHeader(status int) {
	final := status >= 200 || status == http.StatusSwitchingProtocols // others only announce an answer
	if final && !a.begin(status) {
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if !a.begin(http.StatusOK) {
		return len(p), nil // a service needs not know
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Flush is offered because callers look for it, and everything else by Unwrap.
func (a *answer) Flush() {
	if a.begin(http.StatusOK) {
		http.NewResponseController(a.ResponseWriter).Flush() // where it can not be done, callers expect nothing
	}
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// close writes the call on the audit trail, also if the service broke it off.
func (a *answer) close() {
	event := storage.Event{
		At: a.began, Kind: storage.EventCall, RequestID: a.visit.RequestID,
		App: a.visit.Caller.AppID, User: a.visit.Caller.UserID, Product: a.guard.product,
		Method: a.request.Method, Path: a.request.URL.Path, Status: a.status,
		Latency: time.Since(a.began), Bytes: a.bytes, IP: a.gateway.c.ClientIP(a.request).String(),
	}
	if e := a.visit.Entry.(*entry); e.asked != nil {
		event.Product, event.Method, event.Path = e.asked.product, e.asked.method, e.asked.path
	}
	a.gateway.Note(event)
}
