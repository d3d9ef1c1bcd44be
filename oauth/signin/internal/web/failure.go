package web

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/passwords"
)

// The refusals of a form (protocol 7). Wrong credentials (401) and the lock (429) have pages of
// their own, see Pages.ShowThrottled.
var (
	Foreign = &reply.Failure{Status: http.StatusForbidden,
		Msg: "This form was sent from another site. Open the sign-in page itself and try again."}
	NotAForm = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The form could not be read. Open the sign-in page again and use the form on it."}
	Twice = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "A field of the form was sent twice. Open the sign-in page again and use the form on it."}
	NotText = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The form holds something that is not text. Open the sign-in page again and use the form on it."}
	BadQuery = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The request that brought you here is damaged. Go back to the application and start again."}
	LongQuery = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The request that brought you here is too long. Go back to the application and start again."}
	LastMethod = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This is the only way you can sign in. Link another one first, then unlink this one."}
	OwnUsername = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "Your username stays yours as long as you have the account, so it cannot be unlinked."}
	AuditFailed = &reply.Failure{Status: http.StatusServiceUnavailable, Msg: AuditFailedMsg,
		Header: http.Header{"Retry-After": {"1"}}}
	HalfSignedOut = &reply.Failure{Status: http.StatusServiceUnavailable, Msg: HalfSignedOutMsg,
		Header: http.Header{"Retry-After": {"1"}}}
	HalfDeleted = &reply.Failure{Status: http.StatusServiceUnavailable, Msg: HalfDeletedMsg}
	TooLarge    = &reply.Failure{Status: http.StatusRequestEntityTooLarge,
		Msg: "The form is too large. Open the sign-in page again and use the form on it."}
	EmailsFull = &reply.Failure{Status: http.StatusServiceUnavailable, Msg: "too many mails are waiting to be sent",
		Header: http.Header{"Retry-After": {"60"}}, Crowd: new(reply.Crowd)}
	EmailTaken = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This email address belongs to another account here. Sign in with it, or give another address."}
	EmailDisabled = &reply.Failure{Status: http.StatusForbidden,
		Msg: "You cannot sign in with this email address. Ask the operator why."}
	TooManyActs = &reply.Failure{Status: http.StatusTooManyRequests,
		Msg: "You have done this many times in a row. Wait ten minutes, then try again."}
	KeptGone = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "What you typed was kept for ten minutes, for you and in the browser that you typed it in, and is not here. " +
			"Nothing was done. Open the page and fill in the form once more."}
	NoPassword = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "You sign in without a password, so there is none to change."}
)

// The refusals of linking a provider (protocol 7). Those that the user can correct on the sign-in
// page are shown there, see Pages.ShowFormWithAlert.
var (
	NotWhoBegan = &reply.Failure{Status: http.StatusForbidden,
		Msg: "Somebody else has signed in here meanwhile. Open your account page and begin again."}
	LoginTaken = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This is how somebody else signs in here already. Sign in as them and unlink it there first."}
)

// The refusals of a sign-in by scanned code (protocol 7). The browser that shows the code has a
// page of its own for them.
var (
	ScanEnded = &reply.Failure{Status: http.StatusNotFound,
		Msg: "This code has been used or is too old. Get a new one on the other device and scan that."}
	ScanTaken = &reply.Failure{Status: http.StatusForbidden,
		Msg: "Somebody else has scanned this code before. Get a new one on the other device and scan that."}
	NoAnswer = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The form says neither yes nor no. Scan the code again and use the buttons on the page."}
	TooManyCodes = &reply.Failure{Status: http.StatusTooManyRequests,
		Msg: "Your network has asked for too many codes. Wait a minute, then try again."}
	TooManyPolls = &reply.Failure{Status: http.StatusTooManyRequests,
		Msg: "this is asked too often: wait as long as Retry-After says, then every 2 seconds"}
	NoCode = &reply.Failure{Status: http.StatusNotFound, Msg: "there is no such code in this browser: get a new one"}
)

// InvitationWrong tells a person that their invitation opens nothing.
const InvitationWrong = "This invitation is not right, or has been used, or has ended. Check it, or ask for another " +
	"one."

// InvitationUsed says so of one that another person has used meanwhile.
var InvitationUsed = &reply.Failure{Status: http.StatusBadRequest, Msg: InvitationWrong}

// InvitationMissing asks for one.
const InvitationMissing = "Type in the code of your invitation. Who invited you has it."

// The texts of the failure pages, in English.
const (
	RefusedTitle     = "This request cannot go on"
	UnavailableTitle = "Please try again shortly"
	UnavailableMsg   = "We cannot look you up at the moment. Wait a minute, then try again; nothing is lost."
	AuditFailedMsg   = "It is done, but it could not be written down. Go back to your account and see that it is."
	HalfSignedOutMsg = "You are signed out here, but applications may not be yet. Sign in again and sign out everywhere " +
		"once more."
	HalfDeletedMsg = "Your account is closed and you are signed out everywhere, but not all of it could be removed " +
		"yet. You need do nothing: the operator of this service finishes it."
	tooLongMsg = "The request that brought you here is too long to sign in this way: it has %s bytes, and %s can " +
		"be kept until you come back. The longest part is %s with %s bytes. Sign in with your password, or ask whoever " +
		"runs the application to send less."
	BrokenTitle = "Something went wrong here"
	BrokenMsg   = "This is our fault, not yours. Try again, and tell the operator the time if it stays."
)

// Fail shows a failure as a page, since the client is a browser, with a link to the sign-in page.
func Fail(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	title, message := failureText(f)
	page.FailTo(w, r, f.Status, title, message, page.Way{Path: FormPath, Label: "Back to sign-in"})
}

// FailAccount is Fail for the pages of a signed-in user, with a link to the account page.
func FailAccount(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	title, message := failureText(f)
	page.FailTo(w, r, f.Status, title, message, page.Way{Path: AccountPath, Label: "Your account"})
}

func failureText(f *reply.Failure) (title, message string) {
	switch {
	case f.Msg == HalfSignedOutMsg, f.Msg == AuditFailedMsg, f.Msg == HalfDeletedMsg, errors.Is(f, passwords.ErrBusy):
		return UnavailableTitle, f.Msg
	case f.Status == http.StatusServiceUnavailable:
		return UnavailableTitle, UnavailableMsg
	case f.Status >= 500:
		return BrokenTitle, BrokenMsg
	}
	return RefusedTitle, f.Msg
}
