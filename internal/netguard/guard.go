package netguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/upstream"
)

// Config holds the parameters of New. The zero Config admits public addresses only.
type Config struct {
	// Allow names what may be reached although it is not public: a CIDR (10.1.0.0/16), an
	// address (10.1.2.3), or a host:port (vault.internal:8200, [fd00::1]:443).
	Allow []string

	Resolver      *net.Resolver // nil: net.DefaultResolver
	DialTimeout   time.Duration // name lookup and connect; 0: 5 s
	HeaderTimeout time.Duration // from the request's end to the answer's headers; 0: 15 s
}

// Limits of one connection, and of those kept for later.
const (
	maxHeaderBytes = 64 << 10
	idlePerHost    = 256 // the default of net/http, 2, costs a dial for almost every call under load
	idleTotal      = 1024
	idleTime       = 90 * time.Second
)

// Guard makes outgoing requests. It is safe for concurrent use.
type Guard struct {
	allow     allowed
	trusting  net.Dialer // to names the operator admitted
	judging   net.Dialer // to everything else
	transport *http.Transport
	upstream  *upstream.Transport // over transport
}

// New returns a Guard. Its errors name each entry of Allow that cannot be read.
func New(c Config) (*Guard, error) {
	allow, err := parseAllow(c.Allow)
	if c.DialTimeout < 0 || c.HeaderTimeout < 0 {
		err = errors.Join(err, errors.New("netguard: DialTimeout and HeaderTimeout must not be negative: 0 is the default"))
	}
	if err != nil {
		return nil, err
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = 5 * time.Second
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = 15 * time.Second
	}
	g := &Guard{allow: allow, trusting: net.Dialer{Timeout: c.DialTimeout, Resolver: c.Resolver}}
	g.judging = g.trusting
	g.judging.Control = g.control
	g.transport = &http.Transport{
		DialContext:            g.dial,
		TLSHandshakeTimeout:    c.DialTimeout,
		ResponseHeaderTimeout:  c.HeaderTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTime,
		Protocols:              new(http.Protocols),
	}
	g.transport.Protocols.SetHTTP1(true)
	g.upstream = upstream.New(g.transport)
	return g, nil
}

// Transport returns what sends requests by guarded connections. It follows no redirect. A request
// to an address that is not allowed fails with a *Refused.
func (g *Guard) Transport() http.RoundTripper { return g.upstream }

// Client returns a client by guarded connections. It hands redirects to the caller instead of
// following them. The timeout covers a whole exchange, to the end of the body; 0: 30 s.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	return &http.Client{
		Transport:     g.transport, // http.Client needs a goroutine for the timeout of any other
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes the idle connections; one in use is closed when its answer has been read.
func (g *Guard) Close(context.Context) error {
	g.upstream.CloseIdleConnections()
	return nil
}

// Refused says that an address is not to be dialled. Its text is for everyone, and names
// neither address nor reason: it would otherwise answer what a name inside resolves to.
type Refused struct {
	Addr netip.Addr // for the operator's log
	Why  string     // the kind of address, for the operator's log
}

func (*Refused) Error() string { return "address not allowed" }

func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if g.allow.names(address) {
		return g.trusting.DialContext(ctx, network, address)
	}
	conn, err := g.judging.DialContext(ctx, network, address)
	if refused := (*Refused)(nil); errors.As(err, &refused) {
		return nil, refused // without the net.OpError around it, whose text has the address
	}
	return conn, err
}

// control runs between socket(2) and connect(2), once for every address that is tried.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return &Refused{Why: "no address of TCP"}
	}
	if why := g.allow.refusalOf(to); why != "" {
		return &Refused{Addr: to.Addr(), Why: why}
	}
	return nil
}
