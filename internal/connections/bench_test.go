package connections

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// BenchmarkAForm measures what the limits add to a small request with a body, beside the same
// server without them:
//
//	go test -run '^$' -bench AForm -count 10 ./internal/connections
func BenchmarkAForm(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchForm(b, func(_ *http.Server, l net.Listener) net.Listener { return l }) })
	b.Run("limited", func(b *testing.B) { benchForm(b, New(Config{}).Guard) })
}

func benchForm(b *testing.B, guard func(*http.Server, net.Listener) net.Listener) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseForm(); err != nil {
				b.Error(err)
			}
			w.Header().Set("Content-Length", "800")
			w.Write(make([]byte, 800))
		})}
	guarded := guard(s, l)
	go s.Serve(guarded)
	defer s.Close()
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer nc.Close()
		in := bufio.NewReader(nc)
		for pb.Next() {
			io.WriteString(nc, "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
				"Content-Length: 29\r\n\r\ngrant_type=client_credentials")
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				b.Error(err)
				return
			}
			io.Copy(io.Discard, resp.Body)
		}
	})
}
