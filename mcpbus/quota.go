package mcpbus

import (
	"bytes"
	"strconv"
	"time"
)

// metaQuota names what is left of the caller's quota in the _meta of results of tools/call and
// tools/list, of every revision, so that an agent can plan: limit and remaining are calls, -1 is
// as many as it likes, reset is when remaining is limit again.
const metaQuota = "io.github.keystile/quota"

// appendMeta appends the member _meta of a result, with the comma before it; nothing if it is
// empty.
func (x *exchange) appendMeta(to []byte) []byte {
	const open = `,"_meta":`
	limit, remaining, reset, ok := x.bus.c.Meter.Quota(x.request.Context(), x.caller)
	switch {
	case !ok && !x.modern:
		return to
	case !ok:
		return append(append(to, open...), x.bus.meta...)
	case x.modern:
		to = append(append(to, open...), bytes.TrimSuffix(x.bus.meta, []byte("}"))...)
		to = append(to, ',')
	default:
		to = append(append(to, open...), '{')
	}
	to = append(to, `"`+metaQuota+`":{"limit":`...)
	to = strconv.AppendInt(to, limit, 10)
	to = strconv.AppendInt(append(to, `,"remaining":`...), remaining, 10)
	to = reset.UTC().AppendFormat(append(to, `,"reset":"`...), time.RFC3339)
	return append(to, `"}}`...)
}
