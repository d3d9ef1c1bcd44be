package registry

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage/toolplan"
)

// Every refusal of this package besides an [openapi.Rejection] and those of packages consoleauth and turns, with the
// section that demands it.
var (
	// protocol 7
	notYours = &reply.Failure{Status: 403,
		Msg: "this capability belongs to somebody else: choose another member name"}
	// protocol 7
	similarNameTaken = &reply.Failure{Status: 403,
		Msg: "a capability of somebody else has this name, but for case, - and _: choose another member name"}
	// protocol 7, decision 100
	nameOfAnother = &reply.Failure{Status: 403,
		Msg: "this name was somebody else's and is kept for them: choose another member name"}
	// decision 122
	headersOfAdmin = &reply.Failure{Status: 403, Msg: "an administrator sets identity headers, which an upstream " +
		"believes of every capability: choose identity signed, which says which tool is called"}
	// protocol 7
	notFound = &reply.Failure{Status: 404, Msg: "no such capability: see the list for the names there are"}
	// decision 92
	noPins = &reply.Failure{Status: 404,
		Msg: "this service keeps no pins: what an upstream changes is left out until its capability is registered " +
			"again"}
	// decision 92
	pinsUnseen = &reply.Failure{Status: 409,
		Msg: "what is held now may not be what you have seen: look at it again, and accept it by the digest that is " +
			"shown"}
	// decision 32
	auditFailed = &reply.Failure{Status: 503, Msg: unwritten}
	// RFC 9110 15.6.4
	tooManyConflicts = &reply.Failure{Status: 503, Msg: "others keep changing this capability: send it again in a moment",
		Header: http.Header{"Retry-After": {"1"}}}
)

func badMember(msg string) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeBadMember, Msg: msg}
}

func badUpstream(msg string) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeBadUpstream, Msg: msg}
}

func badField(msg string) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeBadField, Msg: msg}
}

func limitf(format string, args ...any) error {
	return &openapi.Rejection{Errcode: openapi.ErrcodeTooMuch, Msg: fmt.Sprintf(format, args...)}
}

// rejectionBody is the answer to a rejected registration.
type rejectionBody struct {
	Code    int      `json:"code"`
	Errcode int      `json:"errcode"`
	Msg     string   `json:"msg"`
	Data    skipData `json:"data"`
}

type skipData struct {
	Skipped []toolplan.Skip `json:"skipped"`
}

// writeRejection writes an openapi.Rejection, whose body has more members than other failures. It returns
// any other error.
func writeRejection(w http.ResponseWriter, err error) error {
	var no *openapi.Rejection
	if !errors.As(err, &no) {
		return err
	}
	reply.NoStore(w)
	return reply.JSON(w, http.StatusBadRequest, rejectionBody{no.Errcode, no.Errcode, no.Msg,
		skipData{nonNil(shortened(no.Skipped))}})
}

// unwritten is for a change that is made, which must not be answered before it is on the trail (decision 32). It has no
// Retry-After: a client that obeys it would send again what is done.
const unwritten = "the change is made, but the audit trail, which has to have it, cannot be written at the moment: " +
	"nothing has to be sent again, and the list says what there is"
