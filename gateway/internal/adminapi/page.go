package adminapi

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// PageSize is the number of records in a page of a list.
const PageSize = 100

// MaxQuery bounds what is searched for, and the place where a search goes on, in bytes.
const MaxQuery = 1000

// PlaceOf writes where a list goes on, as its reader sends it back; "": at its end.
func PlaceOf(next string) string { return base64.RawURLEncoding.EncodeToString([]byte(next)) }

// FromPlace reads from a query what PlaceOf has written.
func FromPlace(r *http.Request) (string, error) {
	after := r.URL.Query().Get("after")
	text, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil || len(after) > MaxQuery {
		return "", badPlace
	}
	return string(text), nil
}

// QueryOf reads a text of a query, without the blanks around it.
func QueryOf(r *http.Request, name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// AfterOf reads the id that a page comes after.
func AfterOf(r *http.Request) (string, error) {
	after := r.URL.Query().Get("after")
	if !IsID(after) && after != "" {
		return "", badPlace
	}
	return after, nil
}

// IsID reports whether a text can be the id of an application or an order.
func IsID(text string) bool {
	return text != "" && len(text) <= 64 &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
