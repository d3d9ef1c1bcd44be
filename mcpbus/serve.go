package mcpbus

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
	"github.com/keystile/keystile/storage"
)

const maxBody = 4 << 20 // bytes

// serve answers one POST. It refuses what it can before it reads the body, and a missing token
// before a wrong method: clients look for the challenge with GET too.
func (b *Bus) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodOptions { // no browser sends a token with it
		return notAllowed
	}
	if !b.c.originAllowed(r.Header["Origin"]) {
		return originRefused
	}
	at, ok := b.addressOf(r)
	if !ok {
		return noBundle
	}
	r, v := reqctx.Begin(w, r)
	caller, err := b.caller(w, r, v, at)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return notAllowed
	}
	ctx, ok := hop.Arrive(r.Context(), r.Header, b.self)
	if !ok {
		return loopDetected
	}
	r = r.WithContext(span.Arrive(ctx, r.Header))
	x := exchange{bus: b, request: r, caller: caller, address: at}
	if err := x.authorize(); err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	messages, batch, wrong := rpc.Read(body)
	if wrong != nil {
		return refuseMessage(wrong, nil)
	}
	if batch {
		return x.serveBatch(w, messages)
	}
	x.writer = w
	return x.serveOne(w, messages[0])
}

// originAllowed reports whether a page of this Origin may call, against DNS rebinding (MCP,
// transports). Programs that are no browsers send no Origin.
//
// Only pages of Config.Origins may call from a browser. The gateway sets CORS headers and lets all pages read
// the answers: these need a token anyway.
func (c *Config) originAllowed(origin []string) bool {
	return len(origin) == 0 || len(origin) == 1 && (origin[0] == c.BaseURL || slices.Contains(c.Origins, origin[0]))
}

// caller returns the caller that a request authenticates. If a gateway has checked the request,
// its decision is final: it may know that a valid token's application is disabled.
func (b *Bus) caller(w http.ResponseWriter, r *http.Request, v *reqctx.Visit, at *address) (storage.Caller, error) {
	if v.Known {
		if !slices.Contains(at.audiences, v.Caller.Audience) {
			return storage.Caller{}, badToken
		}
		return v.Caller, nil
	}
	if v.Trouble != nil {
		return storage.Caller{}, v.Trouble
	}
	c, err := dpop.Read(w.Header(), r)
	if err == nil && b.c.Verifier != nil {
		var caller storage.Caller
		if caller, err = c.Verify(r.Context(), b.c.Verifier, at.audiences...); err == nil && v.Entry == nil {
			return caller, nil
		}
	}
	switch {
	case errors.Is(err, token.ErrNoToken):
		return storage.Caller{}, noToken
	case errors.Is(err, token.ErrStale):
		return storage.Caller{}, revocationsStale.Because(err)
	case err == nil:
		return storage.Caller{}, badToken
	case errors.Is(err, token.ErrInvalid):
		return storage.Caller{}, dpop.Explain(badToken, err, at.needs())
	}
	return storage.Caller{}, err
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if given := r.Header["Content-Type"]; len(given) > 0 {
		if len(given) > 1 || given[0] != "application/json" && !isJSON(given[0]) {
			return nil, badType
		}
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, tooLarge
	case err != nil:
		return nil, brokenBody.Because(err)
	}
	return body, nil
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// exchange holds one request and its caller.
type exchange struct {
	bus     *Bus
	request *http.Request
	caller  storage.Caller
	address *address
	modern  bool

	writer   http.ResponseWriter // nil: the request is a batch, which gets no stream
	progress *progressReporter   // of the call, if its client requested progress

	openedTools  openedTools    // the tools that the token's scope opens
	who          toolaccess.Who // the subjects of access rules that the caller matches
	snapshot     *snapshot
	missingScope *tool // of a refused call that only the scope does not open
}

// authorize checks the token's scope and loads the snapshot and the caller's subjects.
func (x *exchange) authorize() (err error) {
	ok := false
	if x.openedTools, ok = x.address.openedBy(x.caller); !ok {
		needed := scope.Tools
		if x.address.bundle != "" {
			needed = scope.Bundle(x.address.bundle)
		}
		return x.address.insufficientScope(noScope, needed)
	}
	return x.loadSnapshot()
}

// loadSnapshot loads the current snapshot, unless it is too old, and the caller's subjects.
func (x *exchange) loadSnapshot() (err error) {
	if x.bus.lag.stale() {
		return catalogStale
	}
	x.snapshot = x.bus.snapshot.Load()
	if _, there := x.snapshot.bundles[x.address.bundle]; !there && x.address.bundle != "" {
		return noBundle
	}
	if err := x.loadSubjects(x.request.Context()); err != nil {
		return err
	}
	if x.address.bundle != "" && !x.snapshot.opensBundle(&x.who, x.address.bundle) {
		return noBundle // as of a bundle that is not there
	}
	return nil
}

// loadSubjects loads the caller's subjects, and takes out of what their token opens the bundles that they may not use.
func (x *exchange) loadSubjects(ctx context.Context) (err error) {
	s := x.snapshot
	if x.who, err = x.bus.subjects(ctx, s, x.caller); err != nil || len(s.bundleLists) == 0 {
		return err
	}
	x.openedTools.bundles = slices.DeleteFunc(slices.Clone(x.openedTools.bundles), func(name string) bool {
		return !s.opensBundle(&x.who, name)
	})
	return nil
}

func (x *exchange) serveOne(w http.ResponseWriter, m rpc.Message) error {
	if m.Wrong != nil {
		return refuseMessage(m.Wrong, m.ID)
	}
	modern, wrong := era(x.request.Header, &m)
	x.modern = modern
	switch {
	case wrong != nil && !m.IsRequest():
		return refuseMessage(wrong, nil)
	case wrong != nil:
		write(w, statusOf(wrong), failed(m.ID, wrong))
		return nil
	case !m.IsRequest():
		x.handleNotification(&m)
		w.WriteHeader(http.StatusAccepted)
		return nil
	case modern && m.Method == methodListen:
		return x.listen(w, &m)
	}
	answer, wrong := x.answer(&m)
	if x.missingScope != nil {
		return x.address.insufficientScope(stepUp,
			x.openedTools.stepUpScope(x.missingScope)).Because(&refusal{rpc.ServerError, m.ID})
	}
	x.respond(w, &m, answer, wrong)
	return nil
}

// serveBatch answers the messages of a batch one after the other. Only revisions until
// 2025-03-26 have batches. Each message counts against the caller's rate (decision 63):
// where they are too many, none is answered. A batch carries one call. If the token does not cover
// that, it is answered as an unknown tool, because a batch has one status for all messages.
func (x *exchange) serveBatch(w http.ResponseWriter, messages []rpc.Message) error {
	if !hasBatches(x.request.Header) {
		return refuseMessage(noBatch, nil)
	}
	if err := reqctx.CountMore(x.request.Context(), len(messages)-1); err != nil {
		return err
	}
	var out pieces
	called, ended := false, json.RawMessage(nil)
	for i := range messages {
		m := &messages[i]
		wrong := m.Wrong
		if wrong == nil && isModern(m) {
			wrong = noBatch
		}
		if m.Method == methodCall && m.IsRequest() {
			if called && wrong == nil {
				wrong = oneCall
			}
			called = true
		}
		if wrong == nil && !m.IsRequest() {
			x.handleNotification(m)
			continue
		}
		var answer pieces
		if wrong == nil {
			answer, wrong = x.answer(m)
		}
		if wrong == cancelled {
			ended = m.ID
			continue
		}
		if wrong != nil {
			answer = failed(m.ID, wrong)
		}
		out = append(append(out, []byte(",")), answer...)
	}
	if out == nil && ended != nil {
		x.respondCancelled(w, ended)
		return nil
	}
	if out == nil {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	out[0] = []byte("[")
	write(w, http.StatusOK, append(out, []byte("]")))
	return nil
}

// statusOf returns the HTTP status of an error of the modern revision (MCP 2026-07-28, transports).
func statusOf(err *rpc.Error) int {
	switch err.Code {
	case rpc.MethodNotFound:
		return http.StatusNotFound
	case rpc.InvalidParams, rpc.InvalidRequest, rpc.HeaderMismatch, rpc.UnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
