// Package balancer is a reverse proxy that sends each request to the next node that says it is ready,
// as nginx and HAProxy do in front of several servers.
//
// A request goes to another node if the first could not be connected to, or if it changes nothing
// (GET, HEAD, OPTIONS) and was not answered. Nothing else is sent twice.
package balancer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Headers that the balancer adds: the number of the node that has answered, and that none has.
const (
	NodeHeader = "X-Balancer-Node"
	CutHeader  = "X-Balancer-Cut"
)

const (
	looks   = 100 * time.Millisecond // between two looks at a node
	waits   = time.Second            // for the answer of a look, and for a connection
	patient = 12 * time.Second       // for the answer to a request

	silences = 3 // in a row, and a node is not asked any more
)

// Balancer is a handler for all nodes.
type Balancer struct {
	nodes []*node
	turn  atomic.Uint32
	proxy *httputil.ReverseProxy
	stop  context.CancelFunc
	work  sync.WaitGroup
}

type node struct {
	id    int
	url   *url.URL
	ready atomic.Bool
	http  *http.Transport
}

// New makes a balancer of nodes at addresses, host:port.
func New(addresses ...string) *Balancer {
	ctx, stop := context.WithCancel(context.Background())
	b := &Balancer{stop: stop}
	b.proxy = &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {},
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set(CutHeader, err.Error())
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	for i, a := range addresses {
		n := &node{id: i, url: &url.URL{Scheme: "http", Host: a}, http: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: waits}).DialContext,
			MaxIdleConnsPerHost: 64, ResponseHeaderTimeout: patient, DisableCompression: true,
		}}
		b.nodes = append(b.nodes, n)
		b.work.Go(func() { n.watch(ctx) })
	}
	return b
}

// Close ends what the balancer does by itself.
func (b *Balancer) Close() {
	b.stop()
	b.work.Wait()
	b.CloseIdleConnections()
}

// CloseIdleConnections ends all connections to nodes over which no request runs.
func (b *Balancer) CloseIdleConnections() {
	for _, n := range b.nodes {
		n.http.CloseIdleConnections()
	}
}

// Ready reports whether a node was ready when it was last asked.
func (b *Balancer) Ready(i int) bool { return b.nodes[i].ready.Load() }

func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.proxy.ServeHTTP(w, r) }

var errNone = errors.New("no node is ready")

// NodeError says which node has not answered.
type NodeError struct {
	Node int
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("node %d: %v", e.Node, e.Err) }

// Unwrap returns what has happened.
func (e *NodeError) Unwrap() error { return e.Err }

// RoundTrip sends a request to a node. The ReverseProxy calls it.
func (b *Balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte // who sends it again needs all of it
	var err error
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	err = errNone
	for _, n := range b.order() {
		var resp *http.Response
		if resp, err = n.send(r, body); err == nil {
			resp.Header.Set(NodeHeader, strconv.Itoa(n.id))
			return resp, nil
		}
		err = &NodeError{n.id, err}
		var dialing *net.OpError
		unsent := errors.As(err, &dialing) && dialing.Op == "dial"
		if unsent {
			n.ready.Store(false)
		}
		if !unsent && !safe(r.Method) || r.Context().Err() != nil {
			break
		}
	}
	return nil, err
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// order is all ready nodes, the one whose turn it is first.
func (b *Balancer) order() (all []*node) {
	first := int(b.turn.Add(1))
	for i := range b.nodes {
		if n := b.nodes[(first+i)%len(b.nodes)]; n.ready.Load() {
			all = append(all, n)
		}
	}
	return all
}

func (n *node) send(r *http.Request, body []byte) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = n.url.Scheme, n.url.Host
	out.Body, out.ContentLength = http.NoBody, int64(len(body))
	if len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	out.GetBody = nil // net/http must not send anything twice
	return n.http.RoundTrip(out)
}

// watch asks a node again and again whether it is ready. One that says no is believed, and one that says
// nothing when it says nothing again: its machine may be busy.
func (n *node) watch(ctx context.Context) {
	silent := 0
	client := &http.Client{Timeout: waits, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		ready, err := n.ask(ctx, client)
		if silent++; err == nil {
			silent = 0
		}
		if err == nil || silent >= silences {
			n.ready.Store(ready)
		}
		select {
		case <-time.After(looks):
		case <-ctx.Done():
		}
	}
}

func (n *node) ask(ctx context.Context, client *http.Client) (ready bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url.String()+"/healthz/ready", nil)
	if err != nil {
		return false, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK, err
}
