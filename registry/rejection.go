package registry

import (
	"fmt"

	"github.com/keystile/keystile/storage/toolplan"
)

// Reasons of a Rejection: errcode, with HTTP status 400.
const (
	Empty       = 4001 // no usable tool (protocol 4.8, rule 5)
	NotOpenAPI  = 4002 // not an OpenAPI document
	TooMuch     = 4003 // a limit is exceeded
	BadMember   = 4004 // not a valid capability name
	BadUpstream = 4005 // not a valid upstream URL
	BadField    = 4006 // a field of the request has the wrong form
)

// Rejection is the error of a registration or document that cannot be accepted.
type Rejection struct {
	Errcode int             // Empty, NotOpenAPI, TooMuch or BadField
	Msg     string          // for users: what is wrong and what to do
	Skipped []toolplan.Skip // what had been left out so far, at most 100
}

func (r *Rejection) Error() string { return r.Msg }

func reject(errcode int, msg string) *Rejection { return &Rejection{Errcode: errcode, Msg: msg} }

func limitf(format string, args ...any) *Rejection {
	return reject(TooMuch, fmt.Sprintf(format, args...))
}
