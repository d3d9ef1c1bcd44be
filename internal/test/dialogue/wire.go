package dialogue

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/keystile/keystile/internal/plainhttp"
)

// overWire names the variable that has requests served as the program does with listen_fast: see the package.
const overWire = "KEYSTILE_TEST_WIRE"

// ask returns the answer of a handler to a request.
func ask(h http.Handler, r *http.Request) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	if os.Getenv(overWire) == "" {
		h.ServeHTTP(w, r)
		return w, nil
	}
	client, at := net.Pipe()
	defer client.Close()
	from, secure := address(r.RemoteAddr), r.TLS
	done := make(chan struct{})
	s := plainhttp.New(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		r.TLS = secure // what a listener with TLS would have said
		h.ServeHTTP(w, r)
	})})
	defer s.Close()
	go s.Serve(&once{at: &wire{at, from}, closed: make(chan struct{})})
	if r.Header["User-Agent"] == nil {
		r.Header.Set("User-Agent", "") // which sends none
	}
	if r.ContentLength == 0 {
		r.Body = http.NoBody // another one would be sent in chunks
	}
	sent := make(chan error, 1)
	go func() { sent <- r.Write(client) }()
	resp, err := http.ReadResponse(bufio.NewReader(client), r)
	if err != nil {
		return nil, err
	}
	w.Code = resp.StatusCode
	clear(w.Header())
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	if _, err := io.Copy(w.Body, resp.Body); err != nil {
		return nil, err
	}
	<-done // what is noted behind the answer is there for the next request
	return w, <-sent
}

// address holds where a client or a server is.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// wire is a connection from an address.
type wire struct {
	net.Conn
	from net.Addr
}

func (w *wire) RemoteAddr() net.Addr { return w.from }

// once accepts one connection.
type once struct {
	at     net.Conn // nil: it is accepted
	closed chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	if at := o.at; at != nil {
		o.at = nil
		return at, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

func (o *once) Close() error {
	select {
	case <-o.closed:
	default:
		close(o.closed)
	}
	return nil
}

func (o *once) Addr() net.Addr { return address("127.0.0.1:80") }
