package mcpbus

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// Every refusal of a request, with the section that demands it. The challenge of a 401 is added
// where it is written.
var (
	// MCP 2026-07-28, transports
	notAllowed = &reply.Failure{Status: 405, Msg: "the bus takes POST alone: it has no sessions, and streams " +
		"begin with subscriptions/listen", Header: http.Header{"Allow": {"POST"}}}
	// MCP, transports: security
	originRefused = &reply.Failure{Status: 403,
		Msg: "pages of this origin may not call the bus: the operator can list it in bus.origins"}
	// protocol 5, RFC 6750 3.1
	noToken = &reply.Failure{Status: 401,
		Msg: "an access token is needed: send Authorization: Bearer <access_token>"}
	// protocol 5, RFC 6750 3.1
	badToken = &reply.Failure{Status: 401,
		Msg: "the access token is invalid, expired, revoked or for another service: get a new one"}
	// RFC 6750 3.1
	noScope = &reply.Failure{Status: 403,
		Msg: "the scope of the access token opens no tools here: get one with a scope that WWW-Authenticate names"}
	// MCP 2026-07-28, authorization
	stepUp = &reply.Failure{Status: 403,
		Msg: "the scope of the access token does not open this tool: get one with the scopes that WWW-Authenticate names"}
	// protocol 7
	noBundle = &reply.Failure{Status: 404, Msg: "there is no such bundle of tools: check the address"}
	// RFC 9110 15.6.4
	revocationsStale = &reply.Failure{Status: 503, Msg: "revocations cannot be read: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
	// decision 69
	catalogStale = &reply.Failure{Status: 503, Msg: "changes of tools and their access rules cannot be read: try " +
		"again shortly", Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
	// MCP, transports
	badType = &reply.Failure{Status: 415, Msg: "the body is JSON: send Content-Type: application/json"}
	// RFC 9110 15.5.14
	tooLarge = &reply.Failure{Status: 413, Msg: "a message has at most 4 MiB: send less"}
	// protocol 7
	brokenBody = &reply.Failure{Status: 400, Msg: "the body broke off: send it again"}
	// JSON-RPC 5.1; its text is the rpc.Error's
	badMessage = &reply.Failure{Status: 400}
	// RFC 5842 7.2, RFC 8586
	loopDetected = &reply.Failure{Status: 508, Msg: "this call leads back to the service it came from, or comes " +
		"through too many: register the upstream that is meant, not a bus"}
	// protocol 7
	tooManyStreams = &reply.Failure{Status: 429, Msg: "too many streams of this caller are open: close one",
		Header: http.Header{"Retry-After": {"30"}}}
	// RFC 9110 15.6.4
	shuttingDown = &reply.Failure{Status: 503, Msg: "this server is shutting down: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}}
)

// Every refusal of a message.
var (
	// of hidden and absent ones alike
	noTool    = &rpc.Error{Code: rpc.InvalidParams, Text: "there is no such tool: see tools/list"}
	noName    = &rpc.Error{Code: rpc.InvalidParams, Text: "params.name is the name of a tool"}
	badArgs   = &rpc.Error{Code: rpc.InvalidParams, Text: "params.arguments is a JSON object, or left out"}
	badCursor = &rpc.Error{Code: rpc.InvalidParams, Text: "the cursor is not one of tools/list: begin again without one"}
	noFilter  = &rpc.Error{Code: rpc.InvalidParams,
		Text: "params.notifications is an object that names what to listen to"}
	noMethod = &rpc.Error{Code: rpc.MethodNotFound, Text: "the bus does not have this method"}
	internal = &rpc.Error{Code: rpc.InternalError,
		Text: "something failed here: try again, and tell the operator the time of this call"}
	notCharged = &rpc.Error{Code: rpc.InternalError,
		Text: "this call could not be counted, so its result is not shown; it may have been carried out. Try again shortly"}
	cancelled  = &rpc.Error{Code: rpc.ServerError, Text: "this call was cancelled, as its client asked"}
	goneClient = &rpc.Error{Code: rpc.InternalError, Text: "nobody waited for the answer"}

	// MCP 2026-07-28, basic
	noVersion = &rpc.Error{Code: rpc.InvalidParams,
		Text: "params._meta names io.modelcontextprotocol/protocolVersion, a string"}
	// MCP 2026-07-28, basic
	noCapabilities = &rpc.Error{Code: rpc.InvalidParams,
		Text: "params._meta holds io.modelcontextprotocol/clientCapabilities, an object"}
	// MCP 2026-07-28, transports
	versionHeader = &rpc.Error{Code: rpc.HeaderMismatch,
		Text: "the header MCP-Protocol-Version must be there and be the version that params._meta names"}
	// MCP 2026-07-28, transports
	methodHeader = &rpc.Error{Code: rpc.HeaderMismatch,
		Text: "the header Mcp-Method must be there and be the method of the body"}
	// MCP 2026-07-28, transports
	nameHeader = &rpc.Error{Code: rpc.HeaderMismatch, Text: "the header Mcp-Name must be there and be params.name"}
	// MCP 2025-06-18
	noBatch = &rpc.Error{Code: rpc.InvalidRequest,
		Text: "this revision of the protocol has no batches: send messages one by one"}
	oneCall = &rpc.Error{Code: rpc.InvalidRequest,
		Text: "a batch carries one tools/call, as a request does: send the others by themselves"}
)

// Texts for a model whose call exceeds a concurrency limit. They are results, because the model
// can react to them.
const (
	busyCaller = "as many calls of yours are under way as a caller may have at a time (%d): wait for one of them, " +
		"then try again"
	busyUpstream = "too many calls to this tool's upstream are under way: try again in a moment"
)

// refuseMessage returns the failure for a body whose message gets no response of its own. The id
// is the message's, if it has one.
func refuseMessage(err *rpc.Error, id json.RawMessage) error {
	return badMessage.Saying(err.Text).Because(&refusal{err.Code, id})
}

// refusal carries the JSON-RPC code and id of a failure that concerns one message.
type refusal struct {
	code int
	id   json.RawMessage
}

func (*refusal) Error() string { return "the message was refused" }

// bothShapes writes an HTTP failure as JSON-RPC and in the form of all other endpoints at once.
type bothShapes struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   rpc.Error       `json:"error"`
	Code    int             `json:"code"`
	Errcode int             `json:"errcode"`
	Msg     string          `json:"msg"`
}

// WriteError writes a refusal of the gateway in the form of the bus. Set it for Path in
// gateway.Config.ErrorWriters.
func WriteError(w http.ResponseWriter, _ *http.Request, status int, msg string) {
	writeFailure(w, status, &refusal{code: rpc.ServerError}, msg)
}

func (b *Bus) fail(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	at, _ := b.addressOf(r)
	cause := &refusal{code: rpc.ServerError}
	errors.As(f.Cause, &cause)
	switch {
	case f.Status == http.StatusInternalServerError:
		cause.code = rpc.InternalError
	case f.Status == http.StatusUnauthorized && f.Msg == noToken.Msg: // RFC 6750 3.1: no error is named
		w.Header()["Www-Authenticate"] = []string{at.challenge(), dpop.Challenge}
	case f.Status == http.StatusUnauthorized && dpop.Refused(f.Cause) != nil: // it has said what is needed
	case f.Status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", at.challenge()+`, error="invalid_token"`)
	}
	writeFailure(w, f.Status, cause, f.Msg)
}

func writeFailure(w http.ResponseWriter, status int, cause *refusal, msg string) {
	reply.JSON(w, status, bothShapes{"2.0", cause.id, rpc.Error{Code: cause.code, Text: msg}, status, status, msg})
}
