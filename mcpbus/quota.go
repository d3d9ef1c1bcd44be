package mcpbus

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/rawjson"
)

// metaQuota names what is left of the caller's quota in the _meta of results of tools/call and
// tools/list, of every revision, so that an agent can plan: limit and remaining are calls, -1 is
// as many as it likes, reset is when remaining is limit again.
const metaQuota = "io.github.keystile/quota"

// metaAnswer names the headers of the upstream's answer that help a model to go on, by their names, in the _meta of
// results of tools/call. The text of the result has them too.
const metaAnswer = "io.github.keystile/headers"

// appendMeta appends the member _meta of a result, with the comma before it; nothing if it is
// empty.
func (x *exchange) appendMeta(to []byte, headers map[string]string) []byte {
	const open = `,"_meta":{`
	start := len(to)
	to = append(to, open...)
	if x.modern {
		to = append(to, x.bus.meta[1:len(x.bus.meta)-1]...)
	}
	if len(headers) > 0 {
		to = append(nextMember(to), `"`+metaAnswer+`":{`...)
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			to = rawjson.AppendString(append(rawjson.AppendString(nextMember(to), name), ':'), headers[name])
		}
		to = append(to, '}')
	}
	if limit, remaining, reset, ok := x.bus.c.Meter.Quota(x.request.Context(), x.caller); ok {
		to = append(nextMember(to), `"`+metaQuota+`":{"limit":`...)
		to = strconv.AppendInt(to, limit, 10)
		to = strconv.AppendInt(append(to, `,"remaining":`...), remaining, 10)
		to = append(reset.UTC().AppendFormat(append(to, `,"reset":"`...), time.RFC3339), `"}`...)
	}
	if len(to) == start+len(open) {
		return to[:start]
	}
	return append(to, '}')
}

// nextMember appends a comma unless an object has just begun.
func nextMember(to []byte) []byte {
	if to[len(to)-1] == '{' {
		return to
	}
	return append(to, ',')
}
