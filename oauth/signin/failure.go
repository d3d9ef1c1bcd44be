package signin

import (
	"net/http"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
)

// Every way the form is refused (spec 7). Wrong credentials (401) and the lock (429) have
// pages of their own, see pages.go.
var (
	foreign   = &reply.Failure{Status: http.StatusForbidden, Msg: "This form was sent from another site. Open the sign-in page itself and try again."}
	notAForm  = &reply.Failure{Status: http.StatusBadRequest, Msg: "The form could not be read. Open the sign-in page again and use the form on it."}
	twice     = &reply.Failure{Status: http.StatusBadRequest, Msg: "A field of the form was sent twice. Open the sign-in page again and use the form on it."}
	notText   = &reply.Failure{Status: http.StatusBadRequest, Msg: "The form holds something that is not text. Open the sign-in page again and use the form on it."}
	badQuery  = &reply.Failure{Status: http.StatusBadRequest, Msg: "The request that brought you here is damaged. Go back to the application and start again."}
	longQuery = &reply.Failure{Status: http.StatusBadRequest, Msg: "The request that brought you here is too long. Go back to the application and start again."}
	tooLarge  = &reply.Failure{Status: http.StatusRequestEntityTooLarge, Msg: "The form is too large. Open the sign-in page again and use the form on it."}
)

const (
	refusedTitle = "This request can not go on"
	awayTitle    = "Please try again shortly"
	awayMsg      = "We can not look you up at the moment. Wait a minute, then try again; nothing is lost."
	brokenTitle  = "Something went wrong here"
	brokenMsg    = "This is our fault, not yours. Try again, and tell the operator the time if it stays."
)

// failPage says a failure as a page, because whoever meets it here is a person.
func failPage(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	switch {
	case f.Status == http.StatusServiceUnavailable:
		page.Fail(w, r, f.Status, awayTitle, awayMsg)
	case f.Status >= 500:
		page.Fail(w, r, f.Status, brokenTitle, brokenMsg)
	default:
		page.Fail(w, r, f.Status, refusedTitle, f.Msg)
	}
}
