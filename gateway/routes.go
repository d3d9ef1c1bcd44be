package gateway

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/visit"
	"github.com/keystile/keystile/storage"
)

// Paths of the endpoints (spec 4.7).
const (
	pathQuota  = "/api/v1/quota"
	pathUsage  = "/api/v1/usage"
	pathPlans  = "/api/v1/billing/plans"
	pathVerify = "/api/v1/verify"
)

// routes is the room's one table.
func (g *Gateway) routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	return []reply.Route{
		{Path: pathQuota, Methods: read, Handle: g.quota},
		{Path: pathUsage, Methods: read, Handle: g.usage},
		{Path: pathPlans, Methods: read, Handle: g.plans},
		{Path: pathVerify, Handle: g.verify}, // proxies ask in any method, and some put the path behind it
		{Path: pathVerify + "/{path...}", Handle: g.verify},
	}
}

// envelope is how the gateway says yes (spec 4).
type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

func success(w http.ResponseWriter, data any) error {
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, envelope{1, "success", data})
}

// caller returns who asks; the error is why nobody does.
func (g *Gateway) caller(r *http.Request) (storage.Caller, *account, error) {
	v := visit.From(r.Context())
	if err := admits(v); err != nil {
		return storage.Caller{}, nil, err
	}
	return v.Caller, entryOf(r).account, nil
}

// entryOf returns what is known of a request that has been admitted.
func entryOf(r *http.Request) *entry { return visit.From(r.Context()).Entry.(*entry) }
