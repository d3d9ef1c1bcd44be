package upstream

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkRoundTrip is one request and its answer on a connection that is kept, beside net/http's client. The service
// does next to nothing.
func BenchmarkRoundTrip(b *testing.B) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\n" +
		"X-Request-Id: 0123456789\r\n"
	for _, c := range []struct{ name, answer string }{
		{"length", answer + "Content-Length: 80\r\n\r\n" + strings.Repeat("x", 80)},
		{"chunks", answer + "Transfer-Encoding: chunked\r\n\r\n50\r\n" + strings.Repeat("x", 80) + "\r\n0\r\n\r\n"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					in := bufio.NewReader(conn)
					for {
						for {
							line, err := in.ReadSlice('\n')
							if err != nil {
								return
							}
							if len(line) == 2 {
								break
							}
						}
						io.WriteString(conn, c.answer)
					}
				}()
			}
		}()
		next := &http.Transport{MaxIdleConnsPerHost: 10, ResponseHeaderTimeout: time.Minute, DisableCompression: true,
			DialContext: new(net.Dialer).DialContext}
		for name, transport := range map[string]http.RoundTripper{"net/http": next, "upstream": New(next)} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				r, _ := http.NewRequestWithContext(b.Context(), "GET", "http://"+l.Addr().String()+"/v1/pets?id=1", nil)
				r.Header = http.Header{"Accept": {"application/json"}, "X-Forwarded-For": {"192.0.2.1"},
					"X-Keystile-Client": {"app"}}
				b.ReportAllocs()
				for b.Loop() {
					res, err := transport.RoundTrip(r)
					if err != nil {
						b.Fatal(err)
					}
					if n, err := io.Copy(io.Discard, res.Body); n != 80 || err != nil {
						b.Fatal(n, err)
					}
					res.Body.Close()
				}
			})
		}
		next.CloseIdleConnections()
	}
}
