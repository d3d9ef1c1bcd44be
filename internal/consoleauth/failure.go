package consoleauth

import "github.com/keystile/keystile/internal/reply"

// Why a request does not reach the console. Why a user who does may not do something is said by package admin.
var (
	// protocol 4.8, 5
	NotSignedIn = &reply.Failure{Status: 401, Msg: "sign in first: this is opened by the cookie open_sso_token"}
	// protocol 7
	CrossOrigin = &reply.Failure{Status: 403,
		Msg: "this was sent from a page of another site: the operator can list it in cors.origins"}
	// protocol 4.8
	NotJSON = &reply.Failure{Status: 400, Msg: "send Content-Type: application/json"}
)
