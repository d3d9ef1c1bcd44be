package redis

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// encrypted returns the address of an encrypted way to a server, and the authority that vouches for it.
func encrypted(t *testing.T, to string) (address string, roots *x509.CertPool) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate, which is of 127.0.0.1
	t.Cleanup(web.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", web.TLS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer s.Close()
				go io.Copy(s, c)
				io.Copy(c, s)
			}()
		}
	}()
	roots = x509.NewCertPool()
	roots.AddCert(web.Certificate())
	return "rediss://" + l.Addr().String(), roots
}

func TestKindOfAddressLeadsToTheServer(t *testing.T) {
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	started(t, "--unixsocket", socket)
	way, roots := encrypted(t, u.Host)
	for _, address := range []string{
		u.String(), u.String() + "/3", u.String() + "?db=3", u.String() + "?protocol=2",
		u.String() + "/3?protocol=2&client_name=another",
		strings.Replace(u.String(), "redis:", "valkey:", 1), "unix://" + socket, "unix://" + socket + "?db=2", way,
		way + "?protocol=2",
	} {
		c := openAt(t, address, Options{TLS: &tls.Config{RootCAs: roots}})
		for i := range 3 {
			if v := c.Limiter().Allow(ctx, "ks1", 2, time.Now()); v.OK != (i < 2) {
				t.Errorf("%s, request %d: %+v", address, i+1, v)
			}
		}
		c.wantConnected(t)
	}
	r := rawAt(t, u.String()+"/3")
	if keys := r.do("KEYS", "test*:app:ks1").List; len(keys) < 3 {
		t.Errorf("%d applications are counted in database 3, want 3", len(keys))
	}
	if list := r.text("CLIENT", "LIST"); !strings.Contains(list, "name=keystile ") ||
		!strings.Contains(list, "name=another ") {
		t.Errorf("the connections have no names: %s", list)
	}
}

func TestServerThatNobodyKnownVouchesForIsAway(t *testing.T) {
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	way, _ := encrypted(t, u.Host)
	if s := openAt(t, way, Options{}).Stats(); s.Connected || s.Error == nil ||
		!strings.Contains(s.Error.Error(), "certificate") {
		t.Errorf("%+v, want the certificate refused", s)
	}
}
