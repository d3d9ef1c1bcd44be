package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/page"
)

// MaxQuery bounds the authorize request a page carries: escaped once more it still fits
// into a form, and the URL it becomes into a request line.
const MaxQuery = 16 << 10

// MaxStored bounds the authorize request that is stored during a sign-in of several steps. It fits
// a redirect_uri of 2 kB, a state of 1 kB and the other parameters of applications.
const MaxStored = 4 << 10

// CheckLength refuses a request that is too long to be stored, and names its longest parameter.
func CheckLength(r *http.Request, query string) error {
	if len(query) <= MaxStored {
		return nil
	}
	name, most := "", 0
	for part := range strings.SplitSeq(query, "&") {
		if len(part) > most {
			most = len(part)
			name, _, _ = strings.Cut(part, "=")
		}
	}
	if !isName(name) {
		name = "?"
	}
	lang := page.LangOf(r, "")
	return LongQuery.Saying(lang.T(tooLongMsg, strconv.Itoa(len(query)), strconv.Itoa(MaxStored), name,
		strconv.Itoa(most)))
}

// isName reports whether a parameter's name is fit to be shown.
func isName(text string) bool {
	return text != "" && len(text) <= 40 && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// QueryOf returns the authorize request as the page carries it: the query as it came, or the
// fields of a form POST. If the caller has read the body, it must have put them into r.PostForm;
// without them the sign-in would redirect nowhere.
func QueryOf(r *http.Request) (string, error) {
	if r.Method != http.MethodPost {
		return Carry(r.URL.RawQuery)
	}
	if err := r.ParseForm(); err != nil {
		return "", BadQuery.Because(err)
	}
	if len(r.PostForm) == 0 {
		return "", errors.New("signin: Ask: the body has been read and r.PostForm is empty")
	}
	return Carry(r.PostForm.Encode())
}

// QueryParam returns the authorize request in the parameter query of a link, "" if there is none.
func QueryParam(r *http.Request) (string, error) {
	switch values := r.URL.Query()["query"]; len(values) {
	case 0:
		return "", nil
	case 1:
		return Carry(values[0])
	}
	return "", BadQuery
}

// Carry makes a query fit for a Location header without changing its meaning: bytes that no URL
// may hold are escaped, '#' too, which would cut the rest off. A space or a control character
// comes from no browser and is refused.
func Carry(query string) (string, error) {
	if len(query) > MaxQuery {
		return "", LongQuery
	}
	var out strings.Builder
	for i := range len(query) {
		switch c := query[i]; {
		case c <= ' ' || c == 0x7f:
			return "", BadQuery
		case c == '#' || c > 0x7f:
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// Back returns the address that a carried query leads back to. The paths of a scan, of the account
// page, of the page for the code of a device, of a kept form and of the console are carried in the place of
// a request, and no request looks like one.
func Back(query string) string {
	switch {
	case query == "":
		return FormPath
	case isPage(query):
		return query
	}
	return AuthorizePath + "?" + query
}

func isPage(query string) bool {
	return query == AccountPath || query == FactorsPath || isScan(query) || isDevice(query) || IsConsole(query) ||
		IsGoOn(query)
}

// consolePath begins the addresses of the operators' pages.
const consolePath = "/console/"

// maxConsole bounds the address of a page of the console that a sign-in leads to, in bytes.
const maxConsole = 1 << 10

// IsConsole reports whether a text is the path of a page of the console, perhaps with a query. A browser
// must not read it as anything else: no dot segments, no empty ones, no backslashes or control characters.
func IsConsole(text string) bool {
	at, query, _ := strings.Cut(text, "?")
	clean := func(text string) bool {
		return !strings.ContainsFunc(text,
			func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' || c == '#' || c == '"' })
	}
	if len(text) > maxConsole || !strings.HasPrefix(at, consolePath) || !clean(at) || !clean(query) {
		return false
	}
	decoded, err := url.PathUnescape(at)
	return err == nil && (path.Clean(decoded) == decoded || path.Clean(decoded)+"/" == decoded)
}

// Onward returns the address to redirect to after a sign-in: the authorize request, byte for byte,
// without the parameters that demand a sign-in, which would loop for ever.
func Onward(query string) string {
	return rewrite(query, func(part string) (string, bool) { return dropSettled(part, true, "login", "select_account") })
}

// Allowed returns the address to redirect to after a consent.
func Allowed(query string) string {
	return rewrite(query, func(part string) (string, bool) { return dropSettled(part, false, "consent") })
}

// Refused returns the address to redirect to after a denial: the provider checks the request once
// more and redirects to the application, at an address that it has validated itself.
func Refused(query string) string {
	return rewrite(query, func(part string) (string, bool) {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return part, err != nil || name != paramConsent
	}) + "&" + paramConsent + "=denied"
}

// Unproven returns the address to redirect to after a sign-in at a provider that does not prove what the application
// has asked for: this service checks the request of the application once more there, and tells it.
func Unproven(query string) string {
	return rewrite(query, func(part string) (string, bool) {
		name, _, _ := strings.Cut(part, "=")
		return part, name != paramLogin
	}) + "&" + paramLogin + "=unproven"
}

// paramLogin marks a sign-in that is not proven to be a new one; see oauth.
const paramLogin = "keystile_login"

// Params returns the parameters of the authorize request that a query carries; none if it carries a page.
func Params(query string) url.Values {
	if isPage(query) {
		return nil
	}
	values, _ := url.ParseQuery(query) // what cannot be read is not there
	return values
}

// IsPage reports whether a query carries a page of ours in the place of an authorize request.
func IsPage(query string) bool { return isPage(query) }

// AsksConsent reports whether a request wants its user to be asked whatever they have allowed.
func AsksConsent(query string) bool {
	values, _ := url.ParseQuery(query) // what cannot be read is not there
	return slices.Contains(strings.Fields(values.Get("prompt")), "consent")
}

// paramConsent marks a denial; see oauth.Consent.
const paramConsent = "keystile_consent"

// paramHint marks a request whose id_token_hint names a person; see oauth.Server.
const paramHint = "keystile_hint"

// rewrite is Back with each parameter changed or dropped.
func rewrite(query string, change func(part string) (rest string, keep bool)) string {
	if query == "" || isPage(query) {
		return Back(query)
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if part, keep := change(part); keep {
			kept = append(kept, part)
		}
	}
	return AuthorizePath + "?" + strings.Join(kept, "&")
}

// dropSettled removes the prompts that are done from a parameter, and after a fresh sign-in
// max_age=0 (OpenID Connect Core 3.1.2.1).
func dropSettled(part string, fresh bool, done ...string) (rest string, keep bool) {
	name, raw, _ := strings.Cut(part, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return part, true
	}
	value, err := url.QueryUnescape(raw)
	if err != nil {
		return part, true
	}
	switch name {
	case "max_age":
		n, err := strconv.Atoi(value)
		return part, err != nil || n != 0 || !fresh
	case "prompt":
		prompts := strings.Fields(value)
		left := slices.DeleteFunc(slices.Clone(prompts), func(p string) bool { return slices.Contains(done, p) })
		if len(left) == len(prompts) {
			return part, true
		}
		return "prompt=" + url.QueryEscape(strings.Join(left, " ")), len(left) > 0
	}
	return part, true
}
