package trail

import (
	"net/http"
	"strings"

	"github.com/keystile/keystile/storage/event"
)

// kind is a kind of events, and what it is called in English.
type kind struct{ Name, Title string }

// kinds are those that can be searched for, and then those of the trail itself.
var kinds = []kind{
	{event.SignIn, "Sign-in"}, {event.Account, "Account"}, {event.Consent, "Consent"}, {event.Token, "Token"},
	{event.Revocation, "Revocation"}, {event.Call, "Call"}, {event.ToolCall, "Tool call"},
	{event.Legacy, "Old endpoint"}, {event.Limit, "Rate limit"}, {event.Registration, "Registration"},
	{event.Client, "Agent"}, {event.Admin, "Administration"},
	{"audit.begin", "Beginning of a chain"}, {"audit.end", "End of a chain"}, {"audit.lost", "Lost events"},
	{"audit.others", "Other events"},
}

// Title returns what the kind of a record is called.
func (r record) Title() string {
	for _, k := range kinds {
		if k.Name == r.Kind {
			return k.Title
		}
	}
	return r.Kind
}

// outcome tells what has come of an event. Class is how it is shown: "good", "bad" or "".
type outcome struct{ Text, Class string }

// How something ends that is no refusal.
var (
	answered = outcome{"answered", ""}
	failed   = outcome{"failed", "bad"}
	changed  = outcome{"changed", ""}
	done     = outcome{"done", ""}
)

// Outcome derives what has come of it from the kind, the status and the detail of a record.
func (r record) Outcome() outcome {
	if r.Status >= 500 && r.Kind != event.ToolCall {
		return failed
	}
	switch r.Kind {
	case event.SignIn:
		return r.signIn()
	case event.Token:
		return r.token()
	case event.Call, event.Legacy:
		return r.call()
	case event.ToolCall:
		return r.tool()
	case event.Limit:
		return outcome{"let through", "warn"}
	}
	if r.Status >= 400 {
		return refused(r.Status)
	}
	if strings.Contains(r.Detail, " were dropped: ") && r.Kind == event.Admin {
		return outcome{"dropped", "bad"}
	}
	for _, one := range endings[r.Kind] {
		if strings.HasPrefix(r.Detail, one.begins) {
			return one.outcome
		}
	}
	return done
}

// refused says why a request was refused, by its status.
func refused(status int) outcome {
	why := map[int]string{
		http.StatusUnauthorized: "refused: not signed in", http.StatusForbidden: "refused: not allowed",
		http.StatusNotFound: "refused: not found", http.StatusConflict: "refused: in conflict",
		http.StatusTooManyRequests: "refused: too many", http.StatusRequestEntityTooLarge: "refused: too large",
	}[status]
	if why == "" {
		why = "refused"
	}
	return outcome{why, "bad"}
}

// wrong says what was wrong with a proof, by the beginning of the path that it was sent to, longest first.
var wrong = []struct{ at, why string }{
	{"/oauth/signin/signup", "refused: no such invitation"}, {"/oauth/signin/password", "refused: wrong password"},
	{"/oauth/signin/factor", "refused: wrong second factor"}, {"/oauth/signin/passkey", "refused: wrong passkey"},
	{"/oauth/signin/qr", "refused by the phone"}, {"/oauth/signin/code", "refused: wrong code"},
	{"/oauth/signin/email", "refused: wrong code"}, {"/oauth/signin/reset", "refused: wrong code"},
	{"/oauth/signin/address", "refused: wrong code"}, {"/oauth/signin/with/", "refused by the provider"},
}

func (r record) signIn() outcome {
	switch {
	case r.Status < 400:
		return outcome{"signed in", "good"}
	case r.Status == http.StatusTooManyRequests:
		return outcome{"refused: too many attempts", "bad"}
	}
	for _, one := range wrong {
		if strings.HasPrefix(r.Path, one.at) {
			return outcome{one.why, "bad"}
		}
	}
	switch {
	case r.Status != http.StatusUnauthorized:
		return refused(r.Status)
	case r.User == "":
		return outcome{"refused: no such user", "bad"}
	}
	return outcome{"refused: wrong password", "bad"}
}

func (r record) token() outcome {
	switch {
	case r.Status == http.StatusUnauthorized:
		return outcome{"refused: wrong secret", "bad"}
	case r.Status >= 400:
		return refused(r.Status)
	case r.Detail == "introspection":
		return answered
	case r.Detail == "device authorization":
		return outcome{"begun", ""}
	case r.Detail == event.DetailNoPKCE:
		return outcome{"issued without PKCE", "warn"}
	case strings.HasPrefix(r.Detail, event.DetailClaims):
		return outcome{"claims left out", "warn"}
	}
	return outcome{"issued", "good"}
}

func (r record) call() outcome {
	switch {
	case r.Status == http.StatusUnauthorized:
		return outcome{"refused: no valid token", "bad"}
	case r.Status >= 400:
		return refused(r.Status)
	case r.Detail == event.DetailRepeated:
		return outcome{"repeated, not charged", ""}
	}
	return answered
}

// tool reads the statuses that the tool bus gives to calls which have none of their upstream.
func (r record) tool() outcome {
	switch {
	case r.Status == 499:
		return outcome{"the caller has gone", "warn"}
	case r.Status == http.StatusTooManyRequests:
		return outcome{"refused: too many", "bad"}
	case r.Status == http.StatusBadGateway:
		return outcome{"failed: no answer", "bad"}
	case r.Status >= 500:
		return failed
	case r.Status >= 400:
		return outcome{"answered with an error", "warn"}
	}
	return answered
}

// ending is the outcome of what begins with a text.
type ending struct {
	begins string
	outcome
}

// endings are those of the kinds whose detail says what was done. The first that fits counts.
var endings = map[string][]ending{
	event.Account: {
		{"signed out", outcome{"signed out", ""}}, {"session ended", outcome{"ended", ""}},
		{"other sessions ended", outcome{"ended", ""}}, {"API key made", outcome{"created", ""}},
		{"own data downloaded", outcome{"downloaded", ""}}, {"asks for the account to be deleted", outcome{"asked for", ""}},
		{"the account is to be deleted", outcome{"asked for", ""}}, {"account deleted", outcome{"removed", "warn"}},
		{"passkey counter has not risen", outcome{"suspicious", "warn"}}, {"", changed},
	},
	event.Consent: {{"denied", outcome{"denied", "bad"}}, {"allowed", outcome{"allowed", "good"}}},
	event.Revocation: {{"access removed", outcome{"removed", ""}}, {"API key revoked", outcome{"ended", ""}},
		{"signed out everywhere", outcome{"ended", ""}}, {"", answered}}, // a token that is unknown is no error
	event.Registration: {
		{"client registered itself", outcome{"registered", "good"}}, {"client removed itself", outcome{"removed", ""}},
		{"signed up", outcome{"signed up", "good"}}, {"hold ", outcome{"held back", "warn"}},
		{"capability register", outcome{"registered", "good"}}, {"capability remove", outcome{"removed", "warn"}},
		{"capability pins", outcome{"accepted", "good"}}, {"capability ", changed},
	},
	event.Client: {
		{"document admitted", outcome{"admitted", "good"}}, {"document refused", outcome{"refused", "bad"}},
		{"document not read", outcome{"failed: no answer", "bad"}}, {"document changed", changed},
	},
	event.Admin: {
		{"app create", outcome{"created", ""}}, {"app delete", outcome{"removed", "warn"}}, {"app ", changed},
		{"user create", outcome{"created", ""}}, {"user erase", outcome{"removed", "warn"}},
		{"user export", outcome{"downloaded", ""}}, {"user invite", outcome{"created", ""}},
		{"user unlock", outcome{"unlocked", ""}}, {"user key create", outcome{"created", ""}},
		{"user key revoke", outcome{"ended", ""}}, {"user session end", outcome{"ended", ""}},
		{"user sign out", outcome{"ended", ""}}, {"user grant withdraw", outcome{"ended", ""}}, {"user ", changed},
		{"client host forget", outcome{"removed", ""}}, {"client forget", outcome{"removed", "warn"}}, {"client ", changed},
		{"order create", outcome{"created", ""}}, {"order approve", outcome{"approved", "good"}},
		{"order reject", outcome{"rejected", "bad"}}, {"order cancel", outcome{"canceled", ""}},
		{"group create", outcome{"created", ""}}, {"group delete", outcome{"removed", "warn"}}, {"group ", changed},
		{"connector remove", outcome{"removed", "warn"}}, {"connector ", changed},
		{"issuer add", outcome{"created", ""}}, {"issuer remove", outcome{"removed", "warn"}},
		{"bundle create", outcome{"created", ""}}, {"bundle delete", outcome{"removed", "warn"}}, {"bundle ", changed},
		{"key rotate begins", outcome{"begun", ""}}, {"key retire begins", outcome{"begun", ""}},
		{"key rekey begins", outcome{"begun", ""}}, {"key retire", outcome{"removed", "warn"}}, {"key ", changed},
		{"setting ", changed}, {"webhook ", changed}, {"tier ", changed}, {"capability access", changed},
		{"lockout clear", outcome{"unlocked", ""}}, {"delivery resend", outcome{"sent again", ""}},
		{"audit verify", outcome{"begun", ""}}, {"audit reindex", outcome{"begun", ""}},
		{"audit prune", outcome{"removed", ""}},
	},
	"audit.begin": {{"", outcome{"begun", ""}}}, "audit.end": {{"", outcome{"ended", ""}}},
	"audit.lost": {{"", outcome{"lost", "bad"}}}, "audit.others": {{"", outcome{"summed up", ""}}},
}

// Actor returns who did it: the id of a user or an application, or where the operator acted; "": nobody, or the
// application for itself.
func (r record) Actor() string {
	if by, ok := r.actor(); ok {
		return by
	}
	return r.User
}

// actor reads who did an act of administration: "user set X by WHO: what".
func (r record) actor() (string, bool) {
	if r.Kind != event.Admin && r.Kind != event.Registration {
		return "", false
	}
	_, rest, ok := strings.Cut(r.Detail, " by ")
	if !ok {
		return "", false
	}
	by, _, _ := strings.Cut(rest, ": ")
	return strings.TrimSuffix(by, ", continued"), true
}

// Attempt reports whether it is an attempt to be somebody, and not known to be theirs.
func (r record) Attempt() bool { return r.Kind == event.SignIn && r.Status >= 400 && r.User != "" }

// Operator reports whether an actor is where the operator acted, or the service, and no id.
func (r record) Operator() bool { return strings.Contains(r.Actor(), " ") }

// About returns the user whom an act of somebody else is about.
func (r record) About() string {
	if by, ok := r.actor(); ok && by != r.User {
		return r.User
	}
	return ""
}

// Says returns the detail without the actor, who is shown beside it.
func (r record) Says() string {
	by, ok := r.actor()
	if !ok {
		return r.Detail
	}
	return strings.Replace(r.Detail, " by "+by, "", 1)
}
