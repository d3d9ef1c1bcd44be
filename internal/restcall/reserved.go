package restcall

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/headername"
)

// reserved are the headers that the connection, the body, the caller's identity or the
// bus decide. OpenAPI 3 ignores parameters named Accept, Content-Type or Authorization.
var reserved = []string{
	"accept", "accept-encoding", "authorization", "cdn-loop", "connection", "content-encoding", "content-length",
	"content-type",
	"cookie", "expect", "forwarded", "host", "keep-alive", "set-cookie", "te", "trailer", "transfer-encoding",
	"upgrade", "user-agent", "via", "x-real-ip",
}

var reservedPrefixes = []string{"mcp-", "proxy-", "x-forwarded-"}

// Reserved reports whether a header is never an argument of a tool: besides those that are decided here, what tells an
// upstream who calls, from where, or that another request is meant than the one that the access rules have let pass.
// The registrar leaves such parameters out; Compile refuses a plan that holds one.
func Reserved(header string) bool { return decided(header) || headername.Claims(header) }

func decided(header string) bool {
	header = strings.Map(func(r rune) rune { // as servers may read it (decision 94)
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(header))
	return slices.Contains(reserved, header) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(header, p) })
}

// PartHeader reports whether a part of a multipart body may have a header that its
// document names: any but those that say what the part is and how to read it.
func PartHeader(header string) bool {
	return headerName(header) && !slices.Contains([]string{
		"content-type", "content-disposition", "content-transfer-encoding", "content-encoding", "content-length",
		"mime-version",
	}, strings.ToLower(header))
}
