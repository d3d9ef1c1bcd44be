package appsapi

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// Every way this package says no, with the section it comes from; what is wrong with a body is
// in adminapi.
var (
	// protocol 7
	noApp = &reply.Failure{Status: 404, Msg: "no such application of yours: see GET /api/v1/apps for those there are"}
	// protocol 7
	noOrder = &reply.Failure{Status: 404,
		Msg: "no such order of yours: see GET /api/v1/billing/orders for those there are"}
	// protocol 7
	noOwner = &reply.Failure{Status: 404, Msg: "owner is neither you nor a group that you manage: leave it out, or " +
		"name such a group as group:NAME"}
	// protocol 7
	disabled = &reply.Failure{Status: 403, Msg: "the user for whom this would be done is disabled or gone"}
	// decision 52, RFC 6750 3.1
	noScope = &reply.Failure{Status: 403,
		Msg:    "this token does not manage applications: have the user authorize it with the scope apps, or use the console",
		Header: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="apps"`}}}
)
