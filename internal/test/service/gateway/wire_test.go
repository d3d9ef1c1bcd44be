package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// rawService answers each connection with the same bytes, and hands on the header of each request as it came.
func rawService(t *testing.T, answer string) (url string, asked chan string) {
	t.Helper()
	at := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { at.Close() })
	asked = make(chan string, 100)
	go func() {
		for {
			conn, err := at.Accept()
			if err != nil {
				return
			}
			var head strings.Builder
			for in := bufio.NewReader(conn); !strings.HasSuffix(head.String(), "\r\n\r\n"); {
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				head.WriteString(line)
			}
			asked <- head.String()
			io.WriteString(conn, answer)
			conn.Close()
		}
	}()
	return "http://" + at.Addr().String(), asked
}

// A signature covers the query as it is written, and some services separate by semicolons.
func TestQueryReachesAServiceByteForByte(t *testing.T) {
	h := newFixture(t)
	url, asked := rawService(t, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	user := behind(t, h, nil, func(u *gateway.Upstream) { u.URL = url })
	address := h.open().Listener.Addr().String()
	for _, target := range []string{
		"/x?q=a;b&x=1", "/x?z=1&flag&sig=a%2Fb==&c=%zz", "/x?", "/x?&&a=1&", "/x?b=2&a=1&b=1", "/x?a=%2f%2F+%20",
		"/x?%", "/x?a=b?c=d#e", "/x?=&=", "/x?a[b]={\"c\":|d^`\\}",
		"/x?\xc3\xa4=\xff", "/x", "/x?a=" + strings.Repeat("1&b=", 12_000), "/osrm/13.4,52.5;13.5,52.6?a=1;2",
	} {
		_, in := raw(t, address, "GET /svc"+target+" HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "+user+
			"\r\nConnection: close\r\n\r\n")
		if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 204 {
			t.Errorf("%.200q: answered %d", target, resp.StatusCode)
			continue
		}
		line, _, _ := strings.Cut(<-asked, "\r\n")
		if want := "GET " + target + " HTTP/1.1"; line != want {
			t.Errorf("the service was asked %.200q, want %.200q", line, want)
		}
	}
}

// A call is a repetition only if exactly the same query is sent to the service.
func TestCallWithAnotherQueryIsNoRepetition(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(http.ResponseWriter, *http.Request) {})
	address := h.open().Listener.Addr().String()
	for i, target := range []string{"/x", "/x?", "/x?a=1;b=2", "/x?a=1&b=2", "/x?a=1", "/x?a=%zz", "/x?flag",
		"/x?flag=", "/x?flag="} {
		_, in := raw(t, address, "POST /svc"+target+" HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "+user+
			"\r\nContent-Length: 0\r\nConnection: close\r\nIdempotency-Key: "+key+"\r\n\r\n")
		if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 200 {
			t.Fatalf("%s: answered %d", target, resp.StatusCode)
		}
		if got, want := h.used(user, "svc"), min(int64(i)+1, 8); got != want {
			t.Errorf("%s: charged %d calls, want %d", target, got, want)
		}
	}
}

// The gateway adds no header as if the service had sent it. The documentation of Proxy lists those that it does add.
func TestProxyInventsNoHeader(t *testing.T) {
	const date = "Date: Thu, 26 Nov 2026 08:00:00 GMT\r\n"
	for name, c := range map[string]struct{ answer, want string }{
		"no Content-Type": {"HTTP/1.1 200 OK\r\n" + date + "Content-Length: 15\r\n\r\n<html>hi</html>", date +
			"Content-Length: 15\r\n\r\n<html>hi</html>"},
		"no Content-Type, until the end": {"HTTP/1.1 200 OK\r\n" + date + "Connection: close\r\n\r\n%PDF-1.7",
			date + "Transfer-Encoding: chunked\r\n\r\n8\r\n%PDF-1.7\r\n0\r\n\r\n"},
		"a failure": {"HTTP/1.1 500 No\r\n" + date + "Content-Length: 5\r\n\r\n{\"a\":", date +
			"Content-Length: 5\r\n\r\n{\"a\":"},
		"an empty Content-Type": {"HTTP/1.1 200 OK\r\n" + date + "Content-Type: \r\nContent-Length: 2\r\n\r\nhi",
			date + "Content-Type: \r\nContent-Length: 2\r\n\r\nhi"},
		"its own": {"HTTP/1.1 200 OK\r\n" + date +
			"Content-Type: a/b;C=\"d\"\r\nContent-Encoding: gzip\r\nServer: own\r\nContent-Length: 2\r\n\r\nhi",
			date + "Content-Encoding: gzip\r\nContent-Length: 2\r\nContent-Type: a/b;C=\"d\"\r\nServer: own\r\n\r\nhi"},
		"after an announcement": {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + date +
			"Content-Length: 2\r\n\r\nhi",
			"Link: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + date + "Content-Length: 2\r\n\r\nhi"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			url, asked := rawService(t, c.answer)
			user := behind(t, h, nil, func(u *gateway.Upstream) { u.URL = url })
			_, in := raw(t, h.open().Listener.Addr().String(),
				"POST /svc/x HTTP/1.1\r\nHost: id.example\r\nAuthorization: Bearer "+user+
					"\r\nX-Request-Id: id-1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			got := string(must(io.ReadAll(in))(t))
			for _, own := range []string{"X-Request-Id: id-1\r\n", "Connection: close\r\n"} {
				got = strings.ReplaceAll(got, own, "")
			}
			got = got[strings.Index(got, "\r\n")+2:]
			if sorted(got) != sorted(c.want) {
				t.Errorf("the client was answered\n%q, want\n%q", got, c.want)
			}
			sent, want := <-asked, []string{"X-Keystile-Client: ", "X-Keystile-User: ", "X-Keystile-Scope: ",
				"X-Keystile-Tier: ",
				"X-Forwarded-For: ", "X-Forwarded-Host: id.example", "X-Forwarded-Proto: http",
				"X-Forwarded-Prefix: /svc", "X-Request-Id: id-1", "Content-Length: 0", "Host: "}
			for _, line := range strings.Split(strings.TrimSpace(sent), "\r\n")[1:] {
				found := false
				for _, prefix := range want {
					found = found || strings.HasPrefix(line, prefix)
				}
				if !found {
					t.Errorf("the service was sent %q, which the client has not", line)
				}
			}
		})
	}
}

// sorted returns a message with the lines of each header in order.
func sorted(message string) string {
	parts := strings.Split(message, "\r\n\r\n")
	for i, part := range parts {
		if lines := strings.Split(part, "\r\n"); strings.Contains(lines[0], ": ") || len(lines) > 1 &&
			strings.Contains(lines[1], ": ") {
			parts[i] = strings.Join(slices.Sorted(slices.Values(lines)), "\r\n")
		}
	}
	return strings.Join(parts, "\r\n\r\n")
}
