package adminapi

import (
	"net/http"
	"strings"
)

// PageSize is the number of records in a page of a list.
const PageSize = 100

// AfterOf reads the id that a page comes after.
func AfterOf(r *http.Request) (string, error) {
	after := r.URL.Query().Get("after")
	if !IsID(after) && after != "" {
		return "", BadQuery.Saying("after is the next of the page before, as it was sent")
	}
	return after, nil
}

// IsID reports whether a text can be the id of an application or an order.
func IsID(text string) bool {
	return text != "" && len(text) <= 64 &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
