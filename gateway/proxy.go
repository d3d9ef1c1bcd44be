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
	"time"

	"golang.org/x/time/rate"

	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/upstream"
	"github.com/keystile/keystile/internal/urlpath"
	"github.com/keystile/keystile/storage/lasthop"
)

// Upstream is a product's service in another process.
type Upstream struct {
	Product string // one of Config.Products, or of those beside them
	URL     string // http or https; its path is put before the request's
	// prefix that is taken off the request's path, such as /ai; X-Forwarded-Prefix names it. A path without it,
	// as it is written, is refused
	Strip string

	// KeepBearer hands on the Authorization header, to a service that verifies tokens itself
	// (protocol 5). Without it the token ends here: who has it could call every other product.
	KeepBearer bool

	// Identity says what the service learns of the caller. Without a Kind it is lasthop.Headers; lasthop.Bearer is that
	// with KeepBearer. lasthop.Signed needs Config.Signer.
	Identity lasthop.Identity

	// PerSecond limits the calls to the service, of all callers together: a call waits up to
	// MaxWait for its turn, or is refused with a 503. 0: no limit.
	PerSecond float64
	Burst     int           // calls that may go at once; 0: PerSecond, at least 1
	MaxWait   time.Duration // 0: 1 s

	// from the request's last byte to the answer's header; 0: 60 s. Neither bodies nor WebSockets have one
	Timeout time.Duration

	// UploadRate says at how many bytes a second a body has to come, beyond half a minute, as the program keystile
	// holds its connections to it; 0: 8 KiB. It does nothing behind another http.Server, which has bounds of its own.
	UploadRate int
}

// Proxy guards a service in another process and forwards calls to it; bodies are streamed
// both ways, but a request's of at most 16 KiB goes to a service at an http address when all of it
// has come. WebSockets pass too; other upgrades are taken off the request, because behind
// h2c calls could neither be seen nor counted.
//
// Headers name the caller to the service (HeaderClient and those beside it), or a signed statement does, or nothing:
// see Upstream.Identity. Such headers from the client never
// reach it, nor do others that say who or where a client is, or that another request is meant (X-Forwarded-*,
// X-Real-Ip, X-Original-*, X-Rewrite-Url, X-HTTP-Method-Override and their like), nor headers whose names hold
// anything but letters, digits and -, because many services take other characters for the same. Hop-by-hop headers,
// trailers and the cookies of Keystile stay here too, and the Authorization header unless KeepBearer is set. The
// service can set none of these cookies, and nothing that browsers keep for the whole host.
//
// A query reaches the service byte for byte, as it is compared for Config.FreeRepeats. Of a path, bytes that a path
// must not have are percent-encoded, as they are where it is checked. Otherwise the service is sent what the client
// has sent, but for what HTTP/1.1 does by itself: the order and case of names, the framing (Content-Length or chunks),
// and a Date where the service sends none (RFC 9110 6.6.1). No Content-Type, User-Agent or Accept-Encoding is added.
// An answer of 304 has no Content-Type and no Content-Length, whatever the service sends.
//
// The answer is 408 if the client sends its body too slowly, 502 if the service cannot be reached, 504 if it is slow,
// 503 if it is over its rate; none of these is charged. A call whose client left, or was too slow, is charged if it
// had reached the service. One that fails within a body breaks the connection, so that nobody takes half an answer for
// a whole one.
func (g *Gateway) Proxy(u Upstream) (http.Handler, error) {
	target, err := u.check()
	if err == nil {
		err = g.products.check(u.Product)
	}
	if err == nil && u.Identity.Kind == lasthop.Signed && g.c.Signer == nil {
		err = errors.New("the Identity is signed, and Config.Signer is missing: the *oauth.Tokens is one")
	}
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream of %q: %w", u.Product, err)
	}
	transport := upstream.New(u.transport())
	g.background.finally(transport.CloseIdleConnections)
	p := &proxied{gateway: g, target: target, prefix: urlpath.Escape(strings.TrimSuffix(u.Strip, "/")),
		keepBearer: u.KeepBearer || u.Identity.Kind == lasthop.Bearer, limitRate: u.limitRate(),
		told: lasthop.Call{Audience: lasthop.Origin(target), Tool: u.Product, Identity: u.Identity}}
	p.proxy = httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		ModifyResponse: received,
		Transport:      span.Transport(reachTransport{transport}),
		BufferPool:     &buffers{},
		FlushInterval:  10 * time.Millisecond, // of an answer whose length is known; others are flushed at each write
		ErrorHandler:   g.upstreamFailed,
		// what matters is answered, and logged, by ErrorHandler
		ErrorLog: slog.NewLogLogger(g.c.Log.Handler(), slog.LevelDebug),
	}
	return g.guard(guard{product: u.Product, elsewhere: true, uploadRate: u.UploadRate}, p), nil
}

// proxied is the handler of an upstream service, behind its Guard.
type proxied struct {
	gateway    *Gateway
	target     *url.URL
	prefix     string // escaped
	keepBearer bool
	told       lasthop.Call                // what the service learns of the caller, but for the request
	limitRate  func(context.Context) error // nil: none
	proxy      httputil.ReverseProxy
}

func (p *proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.checkPath(r.URL.EscapedPath()); err != nil {
		p.gateway.failUncharged(w, r, err)
		return
	}
	if p.limitRate != nil {
		if err := p.limitRate(r.Context()); err != nil {
			why := busyGateway
			if r.Context().Err() != nil {
				why = clientGone
			}
			p.gateway.failUncharged(w, r, why.Because(err))
			return
		}
	}
	if p.told.Kind == lasthop.Signed {
		if err := p.sign(r); err != nil {
			p.gateway.failUncharged(w, r, err)
			return
		}
	}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &upload{ReadCloser: r.Body}
	}
	if isWebSocket(r) {
		p.serveWebSocket(w.(*answer), r)
		return
	}
	p.proxy.ServeHTTP(w, r)
}

// checkPath returns why a path, as it is written, is not forwarded; nil if it is.
//
// The prefix of a service must be written as it is: /%61i is not /ai. The rest of the path is cut off as it
// came, so nothing is taken for a prefix that a service could read in another way. No path climbs, in up to two
// decodings, with / or \, before or behind a semicolon.
func (p *proxied) checkPath(path string) error {
	if urlpath.Climbs(path) {
		return badPath
	}
	if _, ok := urlpath.Cut(path, p.prefix); !ok {
		return badPrefix.Saying("the path does not begin with " + p.prefix +
			"/, letter by letter: send that part without percent-encoding")
	}
	return nil
}

func (u *Upstream) check() (*url.URL, error) {
	var errs []error
	target, err := url.Parse(u.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" || target.User != nil ||
		target.RawQuery != "" || target.Fragment != "" {
		errs = append(errs, errors.New("the URL is not one such as http://127.0.0.1:9000/v1")) // it may have a password
	}
	if u.Product == "" {
		errs = append(errs, errors.New("the Product is missing"))
	}
	if err := u.Identity.Check(); err != nil {
		errs = append(errs, fmt.Errorf("the Identity: %w", err))
	} else if k := u.Identity.Kind; u.KeepBearer && k != "" && k != lasthop.Bearer {
		errs = append(errs, fmt.Errorf("KeepBearer hands the token on, and the Identity is %s: leave one of them out", k))
	}
	if u.PerSecond < 0 || u.Burst < 0 || u.MaxWait < 0 || u.Timeout < 0 || u.UploadRate < 0 {
		errs = append(errs, errors.New("PerSecond, Burst, MaxWait, Timeout or UploadRate is negative"))
	}
	if u.Strip != "" && !strings.HasPrefix(u.Strip, "/") {
		errs = append(errs, fmt.Errorf("the prefix to strip, %q, does not begin with a slash", u.Strip))
	}
	return target, errors.Join(errs...)
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
		Proxy:                  nil, // what the environment names is not for this
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        90 * time.Second,
		ResponseHeaderTimeout:  wait,
		ExpectContinueTimeout:  time.Second, // a service may refuse a large upload before it comes
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // answers pass as they are
	}
}

// limitRate returns a function that waits for a call's turn, nil if there is no limit.
func (u *Upstream) limitRate() func(context.Context) error {
	if u.PerSecond == 0 {
		return nil
	}
	burst, wait := u.Burst, u.MaxWait
	if burst == 0 {
		burst = max(1, int(u.PerSecond))
	}
	if wait == 0 {
		wait = time.Second
	}
	limiter := rate.NewLimiter(rate.Limit(u.PerSecond), burst)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		return limiter.Wait(ctx) // fails at once if its turn comes too late
	}
}

// upstreamFailed writes the answer for a service that failed. The request it is given is
// the one to the service; the client's own is in the answer.
func (g *Gateway) upstreamFailed(w http.ResponseWriter, _ *http.Request, err error) {
	a := answerOf(w)
	r := a.request
	if a.withheld || a.status == http.StatusSwitchingProtocols {
		return // it is answered: the call could not be charged, or its client has gone
	}
	a.chargeAbandoned()
	g.failUncharged(w, r, upstreamFailure(r, err))
}

// upstreamFailure returns the failure, and distinguishes the service's from the client's.
func upstreamFailure(r *http.Request, err error) error {
	body, _ := r.Body.(*upload)
	big, late := (*http.MaxBytesError)(nil), net.Error(nil)
	switch {
	case errors.As(err, &big):
		return err
	case connections.BodyCut(r.Context()) || body != nil && body.late.Load():
		return fmt.Errorf("%w: %w", connections.ErrSlow, err)
	case errors.Is(context.Cause(r.Context()), ErrEnded):
		return callEnded.Because(err)
	case r.Context().Err() != nil:
		return clientGone.Because(err)
	case body != nil && body.broken.Load():
		return cutBody.Because(err)
	case errors.Is(err, context.Canceled):
		return closing.Because(err)
	case errors.As(err, &late) && late.Timeout():
		return slowGateway.Because(err)
	}
	return badGateway.Because(err)
}

// failUncharged writes a failure of the gateway itself, which is not charged.
func (g *Gateway) failUncharged(w http.ResponseWriter, r *http.Request, err error) {
	answerOf(w).ours = true
	g.refuse(w, r, err)
}
