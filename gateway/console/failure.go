package console

import "github.com/keystile/keystile/internal/reply"

// The refusals of the console, except those of package consoleauth and of reading a body.
var (
	noApp     = &reply.Failure{Status: 404, Msg: "no such application: see GET /api/console/apps for those there are"} // protocol 7
	adminOnly = &reply.Failure{Status: 403, Msg: "this field is an administrator's to set"}                            // protocol 7
)
