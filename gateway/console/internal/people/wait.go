package people

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/storage"
)

// wait says until when attempts at a user's account wait, in browsers that have never signed in there. Where
// that is not known it is left out: "nobody waits" could be false.
type wait struct {
	Known bool
	Until *string // nil: none waits
}

// IsZero reports whether there is nothing to say.
func (w wait) IsZero() bool { return !w.Known }

// MarshalJSON writes the time, or null.
func (w wait) MarshalJSON() ([]byte, error) { return json.Marshal(w.Until) }

func (s *People) waitOf(ctx context.Context, u storage.User) wait {
	if s.c.WaitUntil == nil {
		return wait{}
	}
	until, known := s.c.WaitUntil(ctx, u)
	if known && !until.IsZero() { // in whole seconds, and never before its end
		until = until.Add(time.Second - time.Nanosecond).Truncate(time.Second)
	}
	return wait{known, adminapi.Stamp(until)}
}
