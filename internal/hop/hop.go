// Package hop keeps calls of tools from going in circles. A service that is reached by
// another name than its own cannot tell by looking at an upstream's URL that it is itself,
// so each call carries the services that it has come through, and one that comes back is
// refused.
//
// [Arrive] reads that from a request and puts it into the context of what is done because
// of it; [Begin] is for what a service does by itself. [Mark] writes it on a request that
// leaves. The header is the one that caches use against the same danger (RFC 8586), because
// proxies on the way know that it must be passed on.
package hop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
)

// Header lists the services a request has come through.
const Header = "Cdn-Loop"

// Most bounds how many services a call may have come through.
const Most = 4

// ID names the service at an origin: the same on each of its nodes, and another for each
// service, so that two may call one another's tools.
func ID(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return prefix + hex.EncodeToString(sum[:8])
}

const prefix = "keystile-"

var id = pattern.Lazy(`^` + prefix + `[0-9a-f]{16}$`)

// trail is the key of a list of ids in a context.
type trail struct{}

// Begin returns the context of what a service does by itself.
func Begin(ctx context.Context, self string) context.Context {
	return context.WithValue(ctx, trail{}, []string{self})
}

// Arrive returns the context of what a service does because of a request; false if the
// request has been here before, or has come through more than Most services.
func Arrive(ctx context.Context, header http.Header, self string) (context.Context, bool) {
	through := read(header)
	if len(through) > Most || slices.Contains(through, self) {
		return ctx, false
	}
	return context.WithValue(ctx, trail{}, append(through, self)), true
}

// read returns the ids in a header, no more than tell that there are too many. Those of
// others, caches for instance, are left alone.
func read(header http.Header) (ids []string) {
	for _, line := range header[Header] {
		for entry := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(entry, ";") // of an entry with parameters
			if name = strings.ToLower(strings.TrimSpace(name)); id().MatchString(name) {
				if ids = append(ids, name); len(ids) > Most {
					return ids
				}
			}
		}
	}
	return ids
}

// Mark writes on a request what its context knows. Without Begin or Arrive it writes nothing.
func Mark(ctx context.Context, header http.Header) {
	if through, ok := ctx.Value(trail{}).([]string); ok {
		header[Header] = []string{strings.Join(through, ", ")}
	}
}
