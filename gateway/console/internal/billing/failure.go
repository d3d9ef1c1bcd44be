package billing

import "github.com/keystile/keystile/internal/reply"

// Refusals.
var (
	// protocol 7
	noOrder = &reply.Failure{Status: 404, Msg: "no such order: see GET /api/console/orders for those there are"}
	// protocol 7
	noApp = &reply.Failure{Status: 404, Msg: "no such application: see GET /api/console/apps for those there are"}
)
