package command

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/internal/reply"
)

// misdirected is the admin listener's answer to a host it is not known by (RFC 9110 15.5.20).
var misdirected = &reply.Failure{
	Status: http.StatusMisdirectedRequest,
	Msg: "this is not a host that the admin listener answers to: ask for its address or localhost, or list the host " +
		"in admin.hosts",
}

// operatorHosts are the hosts that requests to the admin listener may name. It asks for no
// password, and a web page on a name that is made to lead here (DNS rebinding) could read
// everything; the page's name gives it away.
type operatorHosts struct {
	names     []string     // in lower case, without a dot at the end
	addresses []netip.Addr // beside loopback
	anywhere  bool         // every address: it listens on all of them
	warned    sync.Once
}

// onlyHosts lets requests through to next that name a host the admin listener is known by.
func onlyHosts(c *config.Config, at net.Addr, log *slog.Logger, next http.Handler) http.Handler {
	h := newOperatorHosts(c, at)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !h.answers(r.Host) {
			h.warned.Do(func() {
				log.Warn("the admin listener was asked for a host that is not its own; if it is, list it in admin.hosts", "host",
					cut(hostOf(r.Host)))
			})
			reply.Fail(log, w, r, misdirected, nil)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func newOperatorHosts(c *config.Config, at net.Addr) *operatorHosts {
	h := new(operatorHosts)
	asked, _, _ := net.SplitHostPort(c.AdminListen)
	own, _, _ := net.SplitHostPort(at.String())
	h.anywhere = everywhere(asked)
	for _, host := range append(slices.Clone(c.AdminHosts), asked, own) {
		if addr, ok := literal(host); ok {
			h.addresses = append(h.addresses, addr)
		} else if host != "" {
			h.names = append(h.names, strings.ToLower(host))
		}
	}
	return h
}

func (h *operatorHosts) answers(host string) bool {
	name := hostOf(host)
	if addr, ok := literal(name); ok {
		return h.anywhere || addr.IsLoopback() || slices.Contains(h.addresses, addr)
	}
	return config.Loopback(name) || slices.Contains(h.names, name)
}

// hostOf is the host of an authority (RFC 9110 7.2) in lower case, without port, brackets
// and the dot of the root; "" if it is none.
func hostOf(authority string) string {
	host, port, brackets := authority, "", strings.HasPrefix(authority, "[")
	switch i := strings.LastIndexByte(authority, ':'); {
	case brackets && strings.HasSuffix(authority, "]"), i < 0:
	default:
		host, port = authority[:i], authority[i+1:]
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
	}
	if brackets {
		inner, closed := strings.CutSuffix(host[1:], "]")
		if addr, err := netip.ParseAddr(inner); !closed || err != nil || !addr.Is6() {
			return ""
		}
		return inner
	}
	if strings.ContainsAny(host, ":[]@/\\") {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func literal(host string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}

// cut keeps what a client makes up short in the log.
func cut(text string) string { return text[:min(len(text), 100)] }
