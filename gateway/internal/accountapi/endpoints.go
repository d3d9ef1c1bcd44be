// Package accountapi answers questions of a caller on the account that its calls are charged to: what is left of the
// quota, what was charged, and what the tiers offer.
package accountapi

import (
	"net/http"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// Config holds what New needs, all of it.
type Config struct {
	Billing  *billing.Billing
	Reader   *usage.Reader
	Products []string // that calls may be charged to

	// Caller returns whom the bearer token of a request speaks for, with the application under the ID that its calls
	// are charged to; the error is why it speaks for nobody.
	Caller func(*http.Request) (storage.Caller, storage.App, error)
	// Groups keeps the groups whose managers own what belongs to them.
	Groups admin.Groups
	// Rate returns what is left of the caller's rate.
	Rate func(*http.Request) counters.Verdict
}

// Endpoints are those of quota, usage and plans.
type Endpoints struct{ c Config }

// New makes Endpoints.
func New(c Config) *Endpoints { return &Endpoints{c} }

// Routes returns the table of the endpoints (protocol 4.7).
func (e *Endpoints) Routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	return []reply.Route{
		{Path: "/api/v1/quota", Methods: read, Handle: e.quota},
		{Path: "/api/v1/usage", Methods: read, Handle: e.usage},
		{Path: "/api/v1/billing/plans", Methods: read, Handle: e.plans},
	}
}

// Every way this package says no, with the section it comes from; what is wrong with a query is in adminapi.
var (
	// BadProduct refuses a name that no call is charged to (protocol 7).
	BadProduct = &reply.Failure{Status: 400, Msg: "this is not a product here: check ?product="}
	// decision 52
	notOwner = &reply.Failure{Status: 403,
		Msg: "who has called, and which tools, is for the application's own token and for its owner: ask without by"}
	// RFC 9110 15.6.4
	busySumming = &reply.Failure{Status: 503, Msg: "too many such answers are being made: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
)
