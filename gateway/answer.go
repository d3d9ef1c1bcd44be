package gateway

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/streams"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage/event"
)

// answer is the ResponseWriter of a guarded service. It charges the call before the first
// byte leaves, and writes it to the audit trail when the answer is complete.
type answer struct {
	http.ResponseWriter
	gateway   *Gateway
	request   *http.Request
	visit     *reqctx.Visit
	guard     *guard
	began     time.Time
	status    int
	bytes     int64
	ours      bool        // the answer is the gateway's own, not the service's
	repeated  bool        // it was charged before, under its Idempotency-Key
	withheld  bool        // a 503 went out in its place
	release   func()      // lets Close go on, once the call is on the trail; nil: it does not wait
	announced http.Header // the gateway's headers at a 1xx of the service
}

// begin records the status and charges the call if it is chargeable. Only the first status
// counts. Where the call cannot be charged its answer must not leave: a 503 goes out in
// its place.
func (a *answer) begin(status int) (goes bool) {
	if a.status != 0 {
		return !a.withheld
	}
	a.status = status
	a.restoreHeaders()
	if !a.charged() {
		return true
	}
	err := a.charge(status >= 500)
	if err == nil {
		return true
	}
	a.withheld, a.status = true, http.StatusServiceUnavailable
	for name := range a.Header() { // the service's own headers
		if !isOurs(name) {
			a.Header().Del(name)
		}
	}
	a.gateway.refuse(a.ResponseWriter, a.request, notCharged.Because(err))
	return false
}

// charge charges the call now, when the service has come to its verdict.
func (a *answer) charge(failed bool) error {
	e, took := a.visit.Entry.(*entry), max(1, time.Since(a.began))
	if e.keyed != nil {
		return a.chargeKeyed(e, took, failed)
	}
	return a.gateway.charge(&a.visit.Caller, e.key, e.productOr(a.guard.product), ledger.Detail{Took: took},
		a.began.Add(took), failed)
}

// charged reports whether the call is charged: each call within the rate that reached a
// product, but none that the gateway itself refused or failed.
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
	if !final {
		a.remember()
		if a.guard.elsewhere {
			dropHostWide(a.Header())
		}
	} else if !a.begin(status) {
		return
	} else if a.guard.elsewhere && !a.ours {
		doNotSniff(a.Header())
	}
	a.ResponseWriter.WriteHeader(status)
}

// doNotSniff has net/http send no Content-Type where a service sends none: what it would guess from the first bytes
// would be taken for the service's word.
func doNotSniff(h http.Header) {
	if _, said := h["Content-Type"]; !said {
		h["Content-Type"] = nil
	}
}

// isOurs reports whether the gateway writes this header on a service's answer.
func isOurs(name string) bool {
	return name == reqctx.Header || name == headerHSTS || name == "Vary" || strings.HasPrefix(name, "Access-Control-")
}

// remember keeps the gateway's headers on an informational (1xx) answer: the reverse proxy
// clears them afterwards.
func (a *answer) remember() {
	if a.announced != nil {
		return
	}
	a.announced = http.Header{}
	for name, values := range a.Header() {
		if isOurs(name) {
			a.announced[name] = values[:1] // what stands behind it belongs to the announcement
		}
	}
}

func (a *answer) restoreHeaders() {
	h := a.Header()
	for name, values := range a.announced {
		if theirs := h[name]; len(theirs) == 0 || theirs[0] != values[0] {
			h[name] = append(values[:1:1], theirs...)
		}
	}
}

// gatewayHeaders returns the headers that were set before the service's are copied.
func (a *answer) gatewayHeaders() http.Header {
	if a.announced != nil {
		return a.announced
	}
	return a.Header()
}

func (a *answer) Write(p []byte) (int, error) {
	if !a.begin(http.StatusOK) {
		return len(p), nil // the service does not learn of it
	}
	if a.visit.Entry.(*entry).stream.Broken() {
		return 0, streams.ErrBroken
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Flush is implemented because callers look for it; everything else is found by Unwrap.
func (a *answer) Flush() {
	if a.begin(http.StatusOK) {
		http.NewResponseController(a.ResponseWriter).Flush() // where it cannot be done, callers expect nothing
	}
}

// Hijack gives the connection to a service that switches protocols. That is the answer,
// and it is charged; what goes over the connection is not known here.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !canHijack(a.ResponseWriter) {
		return nil, nil, http.ErrNotSupported
	}
	if !a.begin(http.StatusSwitchingProtocols) {
		return nil, nil, errWithheld
	}
	conn, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		conn = a.visit.Entry.(*entry).stream.Take(conn)
	}
	return conn, buffered, err
}

var errWithheld = errors.New("gateway: the call could not be charged, and was answered so")

func canHijack(w http.ResponseWriter) bool {
	for {
		switch layer := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = layer.Unwrap()
		default:
			return false
		}
	}
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// close writes the call to the audit trail, even if the service aborted it.
func (a *answer) close() {
	if a.release != nil {
		defer a.release()
	}
	call := event.Event{
		At: a.began, Kind: event.Call, RequestID: a.visit.RequestID, Product: a.guard.product,
		Method: a.request.Method, Path: a.request.URL.Path, Status: a.status,
		Latency: time.Since(a.began), Bytes: a.bytes,
		Anonymous: !a.visit.Known, Route: a.request.Pattern,
	}
	reqctx.By(&call, &a.visit.Caller)
	if e := a.visit.Entry.(*entry); e.verified != nil {
		call.Product, call.Method, call.Path = e.verified.product, e.verified.method, e.verified.path
	}
	if a.repeated && !a.visit.Entry.(*entry).stream.ChargedLate() {
		call.Detail = event.DetailRepeated
	}
	a.gateway.c.Trail.trail.NoteFrom(&call, a.gateway.c.ClientIP(a.visit.Entry.(*entry).request))
}
