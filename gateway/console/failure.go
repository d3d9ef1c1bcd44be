package console

import "github.com/keystile/keystile/internal/reply"

// The refusals of the console, except those of package consoleauth and of reading a body.
var (
	noOrder = &reply.Failure{Status: 404, Msg: "no such order: see GET /api/console/orders for those there are"} // protocol 7
	noUser  = &reply.Failure{Status: 404, Msg: "no such user: see GET /api/console/users for those there are"}   // protocol 7
)
