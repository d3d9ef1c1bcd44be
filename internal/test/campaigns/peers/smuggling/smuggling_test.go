package smuggling

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/plainhttp"
	"github.com/keystile/keystile/internal/test/campaigns/program"
)

// backend is a server that notes what it is asked, by the number of the shape.
type backend struct {
	address string
	mu      sync.Mutex
	seen    map[string][]string
}

var number = regexp.MustCompile(`n\d+n`)

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	host := strings.ReplaceAll(r.Host, b.address, "back") // as a proxy writes it where there is none
	if strings.HasPrefix(host, "127.0.0.1:") {
		host = "front"
	}
	note := fmt.Sprintf("%s %q %q, %d bytes, failed: %v", r.Method, r.RequestURI, host, len(body), err != nil)
	b.mu.Lock()
	id := number.FindString(r.RequestURI)
	b.seen[id] = append(b.seen[id], note)
	b.mu.Unlock()
	fmt.Fprintln(w, note)
}

// saw returns what came for a shape, in order: some of it comes over several connections of a proxy.
func (b *backend) saw(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(b.seen[id])), "\n")
}

// serve starts a backend, read by plainhttp or by net/http alone.
func serve(t *testing.T, plain bool) *backend {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{address: l.Addr().String(), seen: map[string][]string{}}
	s := &http.Server{Handler: b, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	run, stop := s.Serve, s.Close
	if plain {
		front := plainhttp.New(s)
		run, stop = front.Serve, front.Close
	}
	ended := make(chan struct{})
	go func() { defer close(ended); run(l) }()
	t.Cleanup(func() { stop(); <-ended })
	return b
}

// proxies are the configurations, in which FRONT and BACK stand for addresses and DIR for a folder. They soon give up
// what is not complete.
var proxies = []struct {
	name, file, config string
	args               []string
}{
	{"nginx", "nginx.conf", `
error_log stderr crit; pid nginx.pid; worker_processes 1; events {}
http {
	access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	client_header_timeout 1s; client_body_timeout 1s; keepalive_timeout 1s; large_client_header_buffers 4 32k;
	upstream back { server BACK; keepalive 16; }
	server {
		listen FRONT; underscores_in_headers on; ignore_invalid_headers off;
		location / {
			proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Connection "";
			proxy_set_header Host $http_host; proxy_request_buffering off;
		}
	}
}`, []string{"-e", "stderr", "-p", "DIR", "-c", "FILE", "-g", "daemon off; user root;"}},
	{"haproxy", "haproxy.cfg", `
global
	tune.bufsize 65536
defaults
	mode http
	timeout connect 5s
	timeout client 1s
	timeout server 5s
	timeout http-request 1s
	timeout http-keep-alive 1s
	option accept-invalid-http-request
	http-reuse always
frontend front
	bind FRONT
	default_backend back
backend back
	server one BACK
`, []string{"-q", "-db", "-f", "FILE"}},
	{"caddy", "Caddyfile", `
{
	admin off
	auto_https off
	servers {
		timeouts {
			read_header 1s
			read_body 1s
			idle 1s
		}
	}
}
http://FRONT {
	bind 127.0.0.1
	reverse_proxy BACK
}
`, []string{"run", "--adapter", "caddyfile", "--config", "FILE"}},
}

func TestSmuggledRequestsAreNotSeenWhereNetHTTPSeesNone(t *testing.T) {
	plain, reference := serve(t, true), serve(t, false)
	t.Run("directly", func(t *testing.T) { compare(t, plain, reference, plain.address, reference.address) })
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath(p.name); err != nil {
				t.Skipf("%s is not installed: apt-get install it", p.name)
			}
			var fronts [2]string
			plain, reference := serve(t, true), serve(t, false)
			for i, b := range []*backend{plain, reference} {
				dir, front := t.TempDir(), program.Free(t)
				swap := strings.NewReplacer("FRONT", front, "BACK", b.address, "DIR", dir, "FILE", filepath.Join(dir, p.file))
				config := swap.Replace(p.config)
				if p.name == "caddy" {
					_, port, _ := net.SplitHostPort(front)
					config = strings.Replace(config, "http://"+front, "http://:"+port, 1) // any Host
				}
				if err := os.WriteFile(filepath.Join(dir, p.file), []byte(config), 0o644); err != nil {
					t.Fatal(err)
				}
				args := slices.Clone(p.args)
				for i := range args {
					args[i] = swap.Replace(args[i])
				}
				program.Ready(t, front, program.Run(t, dir, p.name, args...))
				fronts[i] = front
			}
			compare(t, plain, reference, fronts[0], fronts[1])
		})
	}
}

// compare sends all shapes to both, a few at a time.
func compare(t *testing.T, plain, reference *backend, toPlain, toReference string) {
	all := shapes()
	turns := make(chan struct{}, 8)
	var work sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(all)) {
		turns <- struct{}{}
		work.Go(func() {
			defer func() { <-turns }()
			id := fmt.Sprintf("n%dn", i)
			text := strings.ReplaceAll(all[name], "/ID", "/"+id)
			want, got := say(t, toReference, text), say(t, toPlain, text)
			if got != want {
				t.Errorf("%s: answered %s, with net/http %s", name, got, want)
			}
			agree(t, name, func() (string, string) { return plain.saw(id), reference.saw(id) })
		})
	}
	work.Wait()
	if len(reference.seen) < len(all)/5 { // most are refused before
		t.Errorf("only %d of %d shapes came to the server", len(reference.seen), len(all))
	}
	if got, want := plain.saw(""), reference.saw(""); got != want {
		t.Errorf("requests without a number: %s, with net/http %s", got, want)
	}
}

// agree waits until two accounts are the same: a proxy may hand a request on although its client has gone.
func agree(t *testing.T, name string, accounts func() (got, want string)) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	by := time.Now().Add(10 * time.Second)
	for {
		got, want := accounts()
		if got == want {
			return
		}
		if time.Now().After(by) {
			t.Errorf("%s is seen as\n%s\nand by net/http as\n%s", name, got, want)
			return
		}
		<-again.C
	}
}

// say sends a message and returns the statuses of all answers until the connection ends.
func say(t *testing.T, address, text string) string {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	sent := make(chan struct{})
	go func() { defer close(sent); io.WriteString(c, text) }() // a server that refuses it reads no more
	all, err := io.ReadAll(c)
	if late, is := err.(net.Error); is && late.Timeout() {
		t.Errorf("%.60q: the connection stays open after %q", text, all)
	}
	<-sent
	var statuses []string
	for r := bufio.NewReader(bytes.NewReader(all)); ; {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			break
		}
		n, _ := io.Copy(io.Discard, answer.Body)
		statuses = append(statuses, fmt.Sprintf("%d (%d bytes)", answer.StatusCode, n))
	}
	return strings.Join(statuses, ", ")
}
