package reply

import (
	"net/http"
	"net/url"
	"strings"
)

// Found is a 302 that no cache keeps and no page behind it hears of.
func Found(w http.ResponseWriter, location string) error {
	return redirect(w, http.StatusFound, location)
}

// SeeOther is Found for a form whose answer is read by a GET of another address: a 303.
func SeeOther(w http.ResponseWriter, location string) error {
	return redirect(w, http.StatusSeeOther, location)
}

func redirect(w http.ResponseWriter, status int, location string) error {
	h := w.Header()
	h.Set("Location", location)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	return nil
}

// WithQuery puts parameters (name, value, ...) behind an address, which stays exactly as
// it is, its own query untouched. Parameters without a value are left out: an empty state would
// replace one that the application has put into its own query.
func WithQuery(address string, params ...string) string {
	var to strings.Builder
	to.WriteString(address)
	glue := "?"
	switch {
	case strings.HasSuffix(address, "?"), strings.HasSuffix(address, "&"):
		glue = ""
	case strings.Contains(address, "?"):
		glue = "&"
	}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			to.WriteString(glue + params[i] + "=" + url.QueryEscape(params[i+1]))
			glue = "&"
		}
	}
	return to.String()
}
