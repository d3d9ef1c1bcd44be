package apps

import "github.com/keystile/keystile/internal/reply"

var (
	// protocol 7
	noApp = &reply.Failure{Status: 404, Msg: "no such application: see GET /api/console/apps for those there are"}
	// decision 57
	notNamed = &reply.Failure{Status: 400, Msg: "type the name of the application exactly, to delete it"}
	// decision 115
	noMember = &reply.Failure{Status: 400, Msg: "there is no such user: give a username or a sub"}

	// decision 55
	noClient = &reply.Failure{Status: 404,
		Msg: "no such client, or it has ended: see GET /api/console/clients for those there are"}
	// decision 55
	noHost = &reply.Failure{Status: 404,
		Msg: "this host is neither trusted nor denied: see GET /api/console/clients/hosts for those that are"}
	// decision 55
	badWord = &reply.Failure{Status: 400, Msg: "policy is trusted or denied"}
)
