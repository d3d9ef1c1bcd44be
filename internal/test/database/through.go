package database

import (
	"io"
	"net"
	"net/url"
	"testing"
)

// Through returns an address that leads to the server of an address through carry, which is called
// with both ends of each connection. The bytes of the client are passed on beside it. Both ends are
// closed when carry returns.
func Through(t testing.TB, address string, carry func(client, server net.Conn)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	to := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer server.Close()
				go func() {
					io.Copy(server, client)
					server.Close()
				}()
				carry(client, server)
			}()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}
