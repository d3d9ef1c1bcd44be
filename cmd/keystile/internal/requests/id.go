package requests

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
)

// Header carries the id, in and out.
const Header = "X-Request-Id"

type idKey struct{}

// ID is the id of the request whose context this is, "" outside of one.
func ID(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}

// idOf is the id that came along, or a new one.
func idOf(h http.Header) string {
	if given := h[Header]; len(given) == 1 && fits(given[0]) {
		return given[0]
	}
	return strings.ToLower(rand.Text())
}

func fits(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
	})
}
