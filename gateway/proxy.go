package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/keystile/keystile/internal/visit"
)

// Upstream is a product's service in another process.
type Upstream struct {
	Product string
	URL     string // http or https; its path is put before the request's
	Strip   string // prefix that is taken off the request's path, such as /ai

	// PerSecond paces what goes to the service, whoever calls: a call waits up to MaxWait
	// for its turn, or is refused with a 503. 0: no pace.
	PerSecond float64
	Burst     int           // calls that may go at once; 0: PerSecond, at least 1
	MaxWait   time.Duration // 0: 1 s

	Timeout time.Duration // until the answer's header; 0: 60 s
}

// sessionCookie is that of sign-in: it opens the console, and is nobody else's.
const sessionCookie = "open_sso_token"

// Proxy guards a service in another process and hands calls on to it. The service is told
// who calls (HeaderClient and those beside it); such headers from the client, and the
// sign-in cookie, never reach it. The Authorization header does: a sibling may look for
// itself (spec 5).
func (g *Gateway) Proxy(u Upstream) (http.Handler, error) {
	target, err := u.check()
	if err == nil {
		err = g.products.add(u.Product)
	}
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream of %q: %w", u.Product, err)
	}
	return g.guard(guard{product: u.Product}, g.resolved(u.paced(&httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { g.rewrite(p, u.Strip, target) },
		Transport:    u.transport(),
		BufferPool:   &buffers{},
		ErrorHandler: g.upstreamFailed,
		ErrorLog:     slog.NewLogLogger(g.c.Log.Handler(), slog.LevelDebug), // what matters is answered, and logged, by ErrorHandler
	}, g))), nil
}

// resolved lets no path through that climbs out of the upstream's own: services resolve
// dot segments, encoded or not.
func (g *Gateway) resolved(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for segment := range strings.SplitSeq(r.URL.Path, "/") {
			if segment == "." || segment == ".." {
				g.own(w, r, badPath)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (u *Upstream) check() (*url.URL, error) {
	var errs []error
	target, err := url.Parse(u.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" || target.User != nil || target.RawQuery != "" || target.Fragment != "" {
		errs = append(errs, fmt.Errorf("the URL %q is not one such as http://127.0.0.1:9000/v1", u.URL))
	}
	if u.Product == "" {
		errs = append(errs, errors.New("the Product is missing"))
	}
	if u.PerSecond < 0 || u.Burst < 0 || u.MaxWait < 0 || u.Timeout < 0 {
		errs = append(errs, errors.New("PerSecond, Burst, MaxWait or Timeout is negative"))
	}
	if u.Strip != "" && !strings.HasPrefix(u.Strip, "/") {
		errs = append(errs, fmt.Errorf("the prefix to strip, %q, does not begin with a slash", u.Strip))
	}
	return target, errors.Join(errs...)
}

func (g *Gateway) rewrite(p *httputil.ProxyRequest, prefix string, target *url.URL) {
	out := p.Out
	strip(out.URL, strings.TrimSuffix(prefix, "/"))
	p.SetURL(target)
	p.SetXForwarded()
	out.Header["X-Forwarded-For"] = []string{g.c.ClientIP(p.In).String()}
	v := visit.From(p.In.Context())
	identity{v.Caller.AppID, v.Caller.UserID, v.Caller.Scope, v.Entry.(*entry).account.Tier}.set(out.Header)
	dropCookie(out, sessionCookie)
}

// strip takes a prefix off both forms of a path.
func strip(u *url.URL, prefix string) {
	if raw, ok := strings.CutPrefix(u.EscapedPath(), prefix); ok {
		u.Path = strings.TrimPrefix(u.Path, prefix)
		if u.RawPath = ""; u.EscapedPath() != raw {
			u.RawPath = raw
		}
	}
}

// dropCookie takes a cookie out of a request and leaves the others as they are.
func dropCookie(r *http.Request, name string) {
	lines := r.Header["Cookie"]
	if len(lines) == 0 {
		return
	}
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		var parts []string
		for part := range strings.SplitSeq(line, ";") {
			if key, _, _ := strings.Cut(part, "="); strings.TrimSpace(key) != name {
				parts = append(parts, strings.TrimSpace(part))
			}
		}
		if len(parts) > 0 {
			kept = append(kept, strings.Join(parts, "; "))
		}
	}
	if r.Header["Cookie"] = kept; len(kept) == 0 {
		delete(r.Header, "Cookie")
	}
}

// transport keeps many connections to the one host: the default of two opens a new one for
// most calls.
func (u *Upstream) transport() *http.Transport {
	dialer := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	wait := u.Timeout
	if wait == 0 {
		wait = time.Minute
	}
	return &http.Transport{
		Proxy:                 nil, // what the environment names is not for this
		DialContext:           dialer.DialContext,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: wait,
		DisableCompression:    true, // answers pass as they are
	}
}

// paced lets calls through at the service's pace.
func (u *Upstream) paced(next http.Handler, g *Gateway) http.Handler {
	if u.PerSecond == 0 {
		return next
	}
	burst, wait := u.Burst, u.MaxWait
	if burst == 0 {
		burst = max(1, int(u.PerSecond))
	}
	if wait == 0 {
		wait = time.Second
	}
	pace := rate.NewLimiter(rate.Limit(u.PerSecond), burst)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		err := pace.Wait(ctx) // fails at once if its turn comes too late
		cancel()
		if err != nil {
			g.own(w, r, busyGateway.Because(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// upstreamFailed answers for a service that did not.
func (g *Gateway) upstreamFailed(w http.ResponseWriter, r *http.Request, err error) {
	failure := badGateway
	if t := net.Error(nil); errors.As(err, &t) && t.Timeout() {
		failure = slowGateway
	}
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		g.own(w, r, err)
		return
	}
	g.own(w, r, failure.Because(err))
}

// own writes a failure that is the gateway's, so that it is not charged.
func (g *Gateway) own(w http.ResponseWriter, r *http.Request, err error) {
	if a, ok := w.(*answer); ok {
		a.ours = true
	}
	g.refuse(w, r, err)
}

// buffers are what bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
