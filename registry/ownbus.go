package registry

import (
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage/toolplan"
)

// busPath is the path of the bus (protocol 4.9); bundles are below it.
const busPath = "/api/mcp"

var errLeadsToBus = errors.New("this may call the bus itself, and calls would come back to where they came from")

// checkNotBus refuses the bus itself as an upstream: it would list its own tools as new ones, and
// a call of one would call the bus again. Under another name of this server, the bus detects it
// when it is called.
func (g *Registry) checkNotBus(q Request) error {
	u := g.ownURL(q.UpstreamURL)
	if u != nil && mayReachBus(u.EscapedPath(), false) {
		return badUpstream("upstream_url: this is the bus itself: name the service whose tools are meant")
	}
	return nil
}

// leadsToBus returns a function that reports whether a tool leads to the bus itself. Tools for
// other endpoints of this server are allowed.
func (g *Registry) leadsToBus(q Request) func(toolplan.Tool) bool {
	u := g.ownURL(q.UpstreamURL)
	if u == nil {
		return func(toolplan.Tool) bool { return false }
	}
	base := strings.TrimRight(u.EscapedPath(), "/")
	return func(t toolplan.Tool) bool {
		template, _, _ := strings.Cut(t.Call.Template, "#")
		template, _, _ = strings.Cut(template, "?")
		literal, _, open := strings.Cut(template, "{")
		return mayReachBus(base+literal, open)
	}
}

// ownURL returns the parsed URL of an upstream on this server, else nil.
func (g *Registry) ownURL(upstream string) *url.URL {
	u, err := netguard.CheckURL(upstream)
	if err != nil || !netguard.SameServer(u, g.base) {
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
