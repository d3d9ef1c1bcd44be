package demo

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// Every way the demo says no. They are read by a person in front of a browser.
var (
	noApplication = &reply.Failure{Status: http.StatusNotFound,
		Msg: "The demo's application was removed, disabled or made public, so there is nothing to sign in to. The provider " +
			"itself is well."}

	// The sign-in did not start in this browser, started under another name of this
	// machine, took over ten minutes, or came back twice.
	strangeState = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This answer belongs to no sign-in that began in this browser in the last ten minutes."}
	// Mix-up defence (RFC 9207).
	strangeIssuer = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This answer does not come from the provider that was asked."}
	strangeIDToken = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The id_token does not pass: it is not about this sign-in, or the application no longer has its secret or " +
			"HS256."}
	refused = &reply.Failure{Status: http.StatusBadRequest, Msg: "The provider said no."}
)

// fail shows a failure as a page, with the way back.
func (d *Demo) fail(w http.ResponseWriter, _ *http.Request, f *reply.Failure) {
	for key, values := range f.Header {
		w.Header()[key] = values
	}
	write(w, f.Status, "failure", view{Base: d.base, Status: f.Status, Message: f.Msg})
}
