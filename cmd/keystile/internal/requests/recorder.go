package requests

import (
	"bufio"
	"net"
	"net/http"
)

// recorder notes what is answered. It offers Flush itself because callers look for it,
// and everything else by Unwrap.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // others only announce an answer
		r.begin(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

func (r *recorder) Flush() {
	r.begin(http.StatusOK)
	http.NewResponseController(r.ResponseWriter).Flush() // where it cannot be done, callers expect nothing
}

// Hijack notes that the protocol is switched: nothing else is known of it from here on.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.begin(http.StatusSwitchingProtocols)
	}
	return conn, buffered, err
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// begin notes the status; only the first one is sent.
func (r *recorder) begin(status int) {
	if r.status == 0 {
		r.status = status
	}
}
