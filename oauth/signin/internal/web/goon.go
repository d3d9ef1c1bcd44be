package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/formwords"
)

// GoOnPath is the page from which a form goes on that was kept while its user confirmed who they are: see package kept.
const GoOnPath = FormPath + "/on"

// ParamKept names a kept form in the address that it is sent to once more.
const ParamKept = "kept"

// About tells people in words what a form does that goes on once they have confirmed who they are, in the language of
// the browser that sent it: another person may have sat before the browser then.
type About struct {
	What   string            `json:"what"`
	Fields []formwords.Field `json:"fields"`
	Leads  string            `json:"leads,omitempty"` // the origin that its answer redirects to; "": none
}

// Said returns a text without a name, as a field of an About.
func Said(text string) formwords.Field { return formwords.Field{Value: text} }

// about returns what is kept for the page of a query, if that is one from which a form goes on.
func (p *Pages) about(r *http.Request, query string) About {
	if p.Kept == nil || !IsGoOn(query) {
		return About{}
	}
	return p.Kept(r, query)
}

// GoOn returns the address of that page for a kept form: its id, and the address it was sent to.
func GoOn(id, to string) string {
	return GoOnPath + "?" + url.Values{ParamKept: {id}, "to": {to}}.Encode()
}

// ReadGoOn returns what an address is made of that GoOn has made. The match is exact, because a sign-in redirects
// there.
func ReadGoOn(address string) (id, to string, ok bool) {
	query, ok := strings.CutPrefix(address, GoOnPath+"?")
	if !ok {
		return "", "", false
	}
	values, err := url.ParseQuery(query)
	id, to = values.Get(ParamKept), values.Get("to")
	return id, to, err == nil && IsCookie(id) && TakesKept(to) && GoOn(id, to) == address
}

// IsGoOn reports whether the query that a sign-in page carries is the page of a kept form.
func IsGoOn(query string) bool {
	_, _, ok := ReadGoOn(query)
	return ok
}

// TakesKept reports whether forms can be kept that are sent to an address: a page of the console, one of an account,
// or the one of a device.
func TakesKept(address string) bool {
	if address == DevicePath {
		return true
	}
	if !strings.HasPrefix(address, AccountPath+"/") && !strings.HasPrefix(address, FormPath+"/") {
		return IsConsole(address)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/"
	return len(address) <= maxConsole && strings.Trim(address, letters) == "" && !strings.Contains(address, "//")
}
