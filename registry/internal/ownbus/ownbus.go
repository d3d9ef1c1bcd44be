// Package ownbus tells which upstreams and tools lead to the bus of this service itself. A bus that is its own
// upstream would list its own tools as new ones, and a call of one would call the bus again. The service's other
// endpoints may be registered. Calls that reach the bus under another name are refused there (package hop).
package ownbus

import (
	"net/url"
	"path"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage/toolplan"
)

// busPath is the path of the bus (protocol 4.9); bundles are below it.
const busPath = "/api/mcp"

// Is reports whether an upstream is the bus itself, in any spelling of the service's own address, which base is.
func Is(base *url.URL, upstream string) bool {
	u := ownURL(base, upstream)
	return u != nil && mayReachBus(u.EscapedPath(), false)
}

// Leads returns a function that reports whether a tool of an upstream could lead to the bus, also by the value of an
// argument.
func Leads(base *url.URL, upstream string) func(toolplan.Tool) bool {
	u := ownURL(base, upstream)
	if u == nil {
		return func(toolplan.Tool) bool { return false }
	}
	below := strings.TrimRight(u.EscapedPath(), "/")
	return func(t toolplan.Tool) bool {
		template, _, _ := strings.Cut(t.Call.Template, "#")
		template, _, _ = strings.Cut(template, "?")
		literal, _, open := strings.Cut(template, "{")
		return mayReachBus(below+literal, open)
	}
}

// ownURL returns the parsed URL of an upstream on this server, else nil.
func ownURL(base *url.URL, upstream string) *url.URL {
	u, err := netguard.CheckURL(upstream)
	if err != nil || !netguard.SameServer(u, base) {
		return nil
	}
	return u
}

// maxDecodings bounds how often a path is percent-decoded: proxies on the way may decode it too.
const maxDecodings = 2

// mayReachBus reports whether a path may be one of the bus. An open path continues with the value
// of an argument, which a server may read as more than one segment.
func mayReachBus(p string, open bool) bool {
	if at := strings.LastIndexByte(p, '%'); open && at >= 0 && at >= len(p)-2 {
		p = p[:at] // the argument ends what is encoded
	}
	for n := 0; ; n++ {
		clean := path.Clean("/" + p)
		if open && strings.HasSuffix(p, "/") && clean != "/" {
			clean += "/"
		}
		if clean == busPath || strings.HasPrefix(clean, busPath+"/") || open && strings.HasPrefix(busPath, clean) {
			return true
		}
		decoded, err := url.PathUnescape(p)
		if err != nil || decoded == p || n == maxDecodings {
			return false
		}
		p = decoded
	}
}
