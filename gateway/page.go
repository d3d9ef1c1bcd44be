package gateway

import (
	"net/http"
	"strings"
)

// pageSize is how many records a page of a list has.
const pageSize = 100

// afterOf reads the id that a page comes after.
func afterOf(r *http.Request) (string, error) {
	after := r.URL.Query().Get("after")
	if !isID(after) && after != "" {
		return "", badQuery.Saying("after is the next of the page before, as it was sent")
	}
	return after, nil
}

// isID reports whether a text can be the id of an application or an order.
func isID(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
