package clientdoc

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of the time for which a document stays fresh.
const (
	minLifetime     = 5 * time.Minute
	maxLifetime     = 24 * time.Hour
	defaultLifetime = time.Hour // where the answer says nothing
)

// lifetime reads for how long an answer is good (RFC 9111 5.2.2), within our own bounds.
func lifetime(head http.Header) time.Duration {
	life := defaultLifetime
	for part := range strings.SplitSeq(strings.Join(head.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		switch name {
		case "no-store", "no-cache":
			return minLifetime
		case "max-age":
			n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err != nil {
				return minLifetime
			}
			life = time.Duration(n) * time.Second
		}
	}
	if age, err := strconv.ParseUint(head.Get("Age"), 10, 31); err == nil {
		life -= time.Duration(age) * time.Second
	}
	return min(max(life, minLifetime), maxLifetime)
}
