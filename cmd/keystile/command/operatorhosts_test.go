package command

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

// A page whose name is made to lead to the admin listener (DNS rebinding) reads nothing.
func TestAdminListenerAnswersNoNameThatAPageCouldCarry(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--admin-listen", "127.0.0.1:0", "--admin-hosts", "metrics.internal, 10.1.2.3")
	address := s.out.Find(t, s.ended, `Admin listener +(\S+)`)
	_, port, _ := net.SplitHostPort(address)
	ask := func(target, host string) (*http.Response, string) {
		t.Helper()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s with Host %q: %v", target, host, err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp, string(body)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/healthz/live", "/nowhere"} {
		resp, body := ask(path, "evil.example:"+port)
		if resp.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(body, "admin.hosts") ||
			strings.Contains(body, "goroutine") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s for evil.example = %d %v %s", path, resp.StatusCode, resp.Header, body)
		}
	}
	if resp, body := ask("http://evil.example/metrics", "localhost"); resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("the absolute form = %d %s", resp.StatusCode, body)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "localhost:" + port, "metrics.internal:1",
		"METRICS.internal", "10.1.2.3"} {
		if resp, body := ask("/metrics", host); resp.StatusCode != 200 || !strings.Contains(body, "keystile_build_info") ||
			resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("/metrics for %s = %d %v %s", host, resp.StatusCode, resp.Header, body)
		}
	}
	if n := strings.Count(s.log.String(), "list it in admin.hosts\" host=evil.example"); n != 1 {
		t.Errorf("it is warned about %d times, want once: %s", n, s.log)
	}
}

func TestAdminListenerAnswersToItsHostsOnly(t *testing.T) {
	for _, c := range []struct {
		asked, got, listed string
		yes, no            []string
	}{
		{"127.0.0.1:9", "127.0.0.1:9", "",
			[]string{"localhost", "LOCALHOST:1", "a.localhost", "localhost.", "127.0.0.1", "127.8.8.8:80", "[::1]", "[::1]:9",
				"[::ffff:127.0.0.1]"},
			[]string{"", "evil.example", "evil.example:9", "10.0.0.5", "[fe80::1]", "localhost.evil.example",
				"127.0.0.1.evil.example", "2130706433", "0x7f.1", "::1", "[::1", "[::1]x", "127.0.0.1:9:9", "127.0.0.1:x",
				"a@127.0.0.1", "localhost/", ":9"}},
		{"10.0.0.5:9", "10.0.0.5:9", "", []string{"10.0.0.5", "10.0.0.5:80", "127.0.0.1"},
			[]string{"10.0.0.6", "metrics.internal"}},
		{"[fd00::5]:9", "[fd00::5]:9", "", []string{"[fd00::5]:9", "[FD00:0::5]"}, []string{"[fd00::6]"}},
		{"metrics:9", "10.0.0.5:9", "", []string{"metrics", "Metrics:9", "10.0.0.5"}, []string{"metric", "10.0.0.6"}},
		// An address in the place of the name cannot be rebound: whoever sends it means it.
		{"0.0.0.0:9", "[::]:9", "", []string{"10.0.0.6", "192.168.1.1:9", "[2001:db8::1]", "localhost"},
			[]string{"evil.example", "metrics.internal", "0x7f.1"}},
		{":9", "[::]:9", "metrics.internal", []string{"metrics.internal", "Metrics.Internal.:9"},
			[]string{"evil.example", "x.metrics.internal"}},
	} {
		at, err := net.ResolveTCPAddr("tcp", c.got)
		if err != nil {
			t.Fatal(err)
		}
		conf := &config.Config{AdminListen: c.asked}
		if c.listed != "" {
			conf.AdminHosts = []string{c.listed}
		}
		h := onlyHosts(conf, at, slog.New(slog.DiscardHandler), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for want, hosts := range map[int][]string{200: c.yes, 421: c.no} {
			for _, host := range hosts {
				r, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
				r.Host = host
				if h.ServeHTTP(w, r); w.Code != want {
					t.Errorf("listening on %s (%s), for %q: %d, want %d", c.asked, c.got, host, w.Code, want)
				}
			}
		}
	}
}
