package apps

import "github.com/keystile/keystile/internal/reply"

var (
	noApp     = &reply.Failure{Status: 404, Msg: "no such application: see GET /api/console/apps for those there are"} // protocol 7
	adminOnly = &reply.Failure{Status: 403, Msg: "this field is an administrator's to set"}                            // protocol 7
	notNamed  = &reply.Failure{Status: 400, Msg: "type the name of the application exactly, to delete it"}             // decision 57
)
