package openapi

import (
	"fmt"

	"github.com/keystile/keystile/storage/toolplan"
)

// Reasons of a Rejection, as its Errcode. An endpoint answers each with HTTP status 400 (protocol 4.8).
const (
	ErrcodeEmpty       = 4001 // no usable tool (rule 5)
	ErrcodeNotOpenAPI  = 4002 // not an OpenAPI document
	ErrcodeTooMuch     = 4003 // a limit is exceeded
	ErrcodeBadMember   = 4004 // not a valid capability name; of registrations
	ErrcodeBadUpstream = 4005 // not a valid upstream URL; of registrations
	ErrcodeBadField    = 4006 // a field, or the list of static tools, has the wrong form
)

// Rejection is the error of a document that cannot be accepted, or of the registration that holds it.
type Rejection struct {
	Errcode int
	Msg     string          // for users: what is wrong and what to do
	Skipped []toolplan.Skip // what had been left out so far
}

func (r *Rejection) Error() string { return r.Msg }

func reject(errcode int, msg string) *Rejection { return &Rejection{Errcode: errcode, Msg: msg} }

func limitf(format string, args ...any) *Rejection {
	return reject(ErrcodeTooMuch, fmt.Sprintf(format, args...))
}
