package connections

import (
	"context"
	"fmt"
	"os"
)

// ErrSlow is the error of reading a body that came more slowly than it has to. It wraps os.ErrDeadlineExceeded.
var ErrSlow = fmt.Errorf("the request's body came too slowly: %w", os.ErrDeadlineExceeded)

// SetBodyRate sets at how many bytes a second, beyond Config.Grace, the rest of the body of a request has to come, in
// place of Config.BodyRate. ctx is that of the request. Where no Limits are around the request, nothing is done.
func SetBodyRate(ctx context.Context, bytes int) {
	c, ok := ctx.Value(key{}).(*conn)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.rate = bytes
}

// BodyCut reports whether the body of a request was given up because it came too slowly. It is known before the
// request's context ends for that reason.
func BodyCut(ctx context.Context) bool {
	c, ok := ctx.Value(key{}).(*conn)
	return ok && c.bodyCut()
}

func (c *conn) bodyCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.late
}
