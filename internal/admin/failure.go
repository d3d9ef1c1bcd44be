package admin

import "github.com/keystile/keystile/internal/reply"

// Why an actor may not do something.
var (
	// protocol 7
	NotAllowed = &reply.Failure{Status: 403, Msg: "this takes the role admin or developer: ask an administrator for it"}
	// protocol 7
	NoRole = &reply.Failure{Status: 403,
		Msg: "this takes the role admin, developer or auditor: ask an administrator for it"}
	// protocol 7
	NotReader = &reply.Failure{Status: 403, Msg: "this takes the role admin or auditor: ask an administrator for it"}
	// protocol 7
	NotAdmin = &reply.Failure{Status: 403, Msg: "this takes the role admin: ask an administrator to do it"}
	// protocol 7
	ReadsOnly = &reply.Failure{Status: 403,
		Msg: "the role auditor reads everything and changes nothing: ask an administrator to do it"}
	// decision 57
	SignInAgain = &reply.Failure{Status: 403, Errcode: StepUp,
		Msg: "sign in again at /oauth/signin, and send this once more: it takes a sign-in that is not older than 10 minutes"}
	// decision 91
	FactorFirst = &reply.Failure{Status: 403, Errcode: StepUp,
		Msg: "prove your second factor at /oauth/account/confirm, and send this once more: this sign-in has not proved it"}
)

// StepUp is the errcode of what takes a fresh sign-in, or one that has proved a second factor.
const StepUp = 4031
