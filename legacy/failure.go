package legacy

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// The refusals of this package. The status is that of Mapped (protocol 7); the numbers are
// those that old clients know, and 105 and 40163 those of the protocol.
var (
	badParameter = &reply.Failure{Status: 400, Errcode: 101, Msg: "a parameter is missing or malformed"}
	unknownApp   = &reply.Failure{Status: 401, Errcode: 102,
		Msg: "appid is not that of an application here, or the application is disabled"}
	wrongKey   = &reply.Failure{Status: 401, Errcode: 103, Msg: "appkey is wrong"}
	wrongSign  = &reply.Failure{Status: 401, Errcode: 103, Msg: md5sign.ErrSign.Error()} // protocol 5
	signWanted = &reply.Failure{Status: 401, Errcode: 103,
		Msg: "this application has to sign its requests: send timestamp and sign instead of appkey"}
	publicApp = &reply.Failure{Status: 403, Errcode: 103,
		Msg: "a public application has no appkey and cannot redeem codes here: use /oauth/authorize with PKCE"}
	badRedirect = &reply.Failure{Status: 403, Errcode: 103, Msg: "redirect_uri is not allowed"} // protocol 5
	wrongType   = &reply.Failure{Status: 400, Errcode: 104, Msg: "type is not a login type that is offered here"}
	badTime     = &reply.Failure{Status: 400, Errcode: 105, Msg: md5sign.ErrTimestamp.Error()} // protocol 5, 7
	unknownUser = &reply.Failure{Status: 404, Errcode: 106,
		Msg: "no user with this social_uid has signed in to this application"}
	unknownCode = &reply.Failure{Status: 400, Errcode: 107,
		Msg: "this code is unknown here, or has expired after 5 minutes: start again at act=login"}
	// decision 115
	notAdmitted = &reply.Failure{Status: 400, Errcode: 107,
		Msg: "the user may not use this application: its owner or an administrator lets them in"}
	// protocol 3.1, 7
	codeUsed = &reply.Failure{Status: 400, Errcode: 40163,
		Msg: "this code has been redeemed before: start again at act=login"}
	badToken = &reply.Failure{Status: 401,
		Msg:    "the access token is missing, invalid, expired or revoked, or belongs to another application: sign in again",
		Header: http.Header{"Www-Authenticate": {"Bearer"}}}
	// protocol 7
	tooManyKeys = &reply.Failure{Status: 429,
		Msg: "too many wrong appkeys or signatures from this address: wait, then send the right one"}
)

// Numbers for what is no fault of the client.
// errNotAdmitted says that the application does not admit the user.
var errNotAdmitted = fmt.Errorf("%w: %s", storage.ErrNotFound, event.DetailNotAdmitted)

const (
	errStore    = 201 // the store does not answer
	errInternal = 301 // something else behind this endpoint failed
	errTooLong  = 101
)

// failure is the shape of every refusal. code is never a success code, nor 2, which is the
// answer to a sign-in that goes on.
type failure struct {
	Code    int    `json:"code"`
	Errcode int    `json:"errcode"`
	Msg     string `json:"msg"`
	Valid   *bool  `json:"valid,omitempty"`
}

// fail writes a refusal: a page for a browser, JSON for a program.
//
// A refusal is HTTP 200, because PHP's file_get_contents drops the body of anything else. Refusals that a
// client should notice whatever it reads (too many requests, a body too large, a fault of the service) have
// their own status. In a navigation of a browser a refusal is a page.
func (l *Legacy) fail(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	if navigates(r) {
		page.Fail(w, r, f.Status, "This request cannot go on", f.Msg)
		return
	}
	reply.JSON(w, l.statusOf(f), failure{Code: -1, Errcode: errcodeOf(f), Msg: f.Msg})
}

// failToken is fail for check_token, which answers that a token is not valid.
func (l *Legacy) failToken(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	body := failure{Code: -1, Errcode: errcodeOf(f), Msg: f.Msg}
	if body.Errcode == badToken.Status {
		body.Valid = new(false)
	}
	reply.JSON(w, l.statusOf(f), body)
}

// statusOf keeps the statuses that are not about the application: wait, too large, broken.
func (l *Legacy) statusOf(f *reply.Failure) int {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		if l.c.ErrorStatus != Mapped {
			return http.StatusOK
		}
	}
	return f.Status
}

func errcodeOf(f *reply.Failure) int {
	switch {
	case f.Status == http.StatusServiceUnavailable:
		return errStore
	case f.Status >= 500:
		return errInternal
	case f.Status == http.StatusRequestEntityTooLarge:
		return errTooLong
	}
	return f.Code()
}

// navigates reports whether a browser shows the answer to its user. Browsers alone send
// the header, and scripts in them cannot set it.
func navigates(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Mode") == "navigate" }

func refusedSign(err error) *reply.Failure {
	switch {
	case errors.Is(err, md5sign.ErrTimestamp):
		return badTime
	case errors.Is(err, md5sign.ErrRepeated), errors.Is(err, md5sign.ErrAmbiguous):
		return badParameter.Saying(err.Error())
	}
	return wrongSign
}
