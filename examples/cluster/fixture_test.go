package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/command"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/serving"
)

// TestMain makes the test binary a keystile, for nodes that are processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv("BE_KEYSTILE") == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv("BE_KEYSTILE")
	storage := command.Bolt()
	storage.Others = []command.Storage{command.Postgres()}
	command.Main(storage)
}

// keystile returns a command line of the program.
func keystile(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// node is a keystile that can be restarted on its address.
type node struct {
	t       *testing.T
	data    string
	address string
	args    []string
	server  *serving.Server
}

func (n *node) start() {
	n.t.Helper()
	args := append([]string{"serve", "--data", n.data, "--listen", n.address}, n.args...)
	server, err := serving.Start(keystile(n.t, args...))
	if err != nil {
		n.t.Fatal(err)
	}
	n.server = server
}

// stop ends the node as systemd does.
func (n *node) stop() {
	n.t.Helper()
	n.server.End(syscall.SIGTERM)
	if code := n.server.State().ExitCode(); code != 0 {
		n.t.Errorf("the node exits %d: %s", code, n.server.Log)
	}
}

// cluster is two nodes behind a balancer that is yet to start.
type cluster struct {
	nodes [2]*node
	front string // where the balancer listens
}

// startNodes starts two nodes on one PostgreSQL, and on Redis where the tests have one. They drain for as long as
// nodes do that nobody has told how long, which is less than the examples say.
func startNodes(t *testing.T) *cluster {
	t.Helper()
	url := database.WithSchema(t)
	c := &cluster{front: free(t)}
	for i := range c.nodes {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		args := []string{"--base-url", "https://" + c.front, "--storage-url", url, "--trusted-proxies", "127.0.0.1",
			"--limits-per-ip", "1000000", "--node-name", fmt.Sprint("node", i+1), "--demo", "true"}
		if redis := os.Getenv("KEYSTILE_TEST_REDIS_URL"); redis != "" {
			args = append(args, "--redis-url", redis)
		}
		c.nodes[i] = &node{t: t, data: data, address: free(t), args: args}
		if i > 0 {
			for _, name := range []string{"master.key", "first-run.json"} {
				text, err := os.ReadFile(filepath.Join(c.nodes[0].data, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(data, name), text, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		c.nodes[i].start()
		t.Cleanup(func() { c.nodes[i].server.Kill() })
	}
	return c
}

// balancer is a real one with its example of this folder.
type balancer struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	ended chan struct{}
	roots *x509.CertPool
	front string
}

// withEach runs a test behind each balancer that is installed.
func withEach(t *testing.T, test func(*testing.T, func(*testing.T, string, [2]string) *balancer)) {
	if testing.Short() {
		t.Skip("it starts nodes and balancers")
	}
	for name, start := range map[string]func(*testing.T, string, [2]string) *balancer{"nginx": startNginx,
		"haproxy": startHAProxy} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed: apt-get install it", name)
			}
			test(t, start)
		})
	}
}

func startNginx(t *testing.T, front string, nodes [2]string) *balancer {
	b := newBalancer(t, front, nodes, "nginx.conf")
	args := []string{"-e", "stderr", "-p", b.dir, "-c", filepath.Join(b.dir, "nginx.conf"), "-g", "daemon off;" + asRoot()}
	if out, err := exec.Command("nginx", append(args, "-t")...).CombinedOutput(); err != nil ||
		strings.Contains(string(out), "[warn]") {
		t.Fatalf("nginx -t: %v: %s", err, out)
	}
	b.run("nginx", args...)
	return b
}

// asRoot lets the workers into the folder of the test where that is root's.
func asRoot() string {
	if os.Getuid() == 0 {
		return " user root;"
	}
	return ""
}

func startHAProxy(t *testing.T, front string, nodes [2]string) *balancer {
	b := newBalancer(t, front, nodes, "haproxy.cfg")
	if out, err := b.command("haproxy", "-c", "-f", "haproxy.cfg").CombinedOutput(); err != nil ||
		strings.Contains(string(out), "WARNING") {
		t.Fatalf("haproxy -c: %v: %s", err, out)
	}
	b.run("haproxy", "-W", "-f", "haproxy.cfg")
	return b
}

func newBalancer(t *testing.T, front string, nodes [2]string, file string) *balancer {
	t.Helper()
	b := &balancer{t: t, dir: t.TempDir(), front: front}
	b.certify()
	text := example(t, file, map[string]string{"127.0.0.1:8443": front, "127.0.0.1:8081": nodes[0],
		"127.0.0.1:8082": nodes[1]})
	if err := os.WriteFile(filepath.Join(b.dir, file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// certify makes the certificate that the examples name.
func (b *balancer) certify() {
	b.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "id.example.com"},
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		b.t.Fatal(err)
	}
	shown := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	hidden := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, text := range map[string][]byte{"id.example.com.crt": shown, "id.example.com.key": hidden,
		"id.example.com.pem": append(shown, hidden...)} {
		if err := os.WriteFile(filepath.Join(b.dir, name), text, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.roots = x509.NewCertPool()
	b.roots.AppendCertsFromPEM(shown)
}

func (b *balancer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = b.dir
	cmd.Stdout, cmd.Stderr = nil, nil
	return cmd
}

// run starts the balancer until the test ends, and waits until it lets people in.
func (b *balancer) run(name string, args ...string) {
	b.t.Helper()
	b.cmd = b.command(name, args...)
	b.cmd.Stdout, b.cmd.Stderr = b.t.Output(), b.t.Output()
	b.cmd.WaitDelay = 5 * time.Second
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.ended = make(chan struct{})
	go func() { defer close(b.ended); b.cmd.Wait() }()
	b.t.Cleanup(func() {
		b.cmd.Process.Signal(syscall.SIGTERM) // a killed one leaves its workers behind
		<-b.ended
	})
	eventually(b.t, "the balancer lets people in", func() bool {
		c, err := net.Dial("tcp", b.front)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// client returns a client that comes from an address of this machine.
func (b *balancer) client(from string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: b.roots},
		MaxIdleConnsPerHost:   32,
		ExpectContinueTimeout: 10 * time.Second}
	b.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// example returns a file of this folder with other addresses. Where it has one, it must say that it is
// the reader's to change.
func example(t *testing.T, name string, addresses map[string]string) string {
	t.Helper()
	lines := strings.Split(read(t, name), "\n")
	swapped := 0
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for old, address := range addresses {
			lines[i] = strings.ReplaceAll(lines[i], old, address)
		}
		if lines[i] != line {
			swapped++
			if !strings.Contains(line, "CHANGE") {
				t.Errorf("%s:%d: an address that is not marked CHANGE: %s", name, i+1, line)
			}
		}
	}
	if swapped == 0 {
		t.Errorf("%s has none of the addresses %v", name, addresses)
	}
	return strings.Join(lines, "\n")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// free returns an address where nobody listens, with a port that no outgoing connection gets.
func free(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+mathrand.IntN(10_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("100 ports are taken")
	return ""
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	over := time.After(serving.Patience)
	for !so() {
		select {
		case <-again.C:
		case <-over:
			t.Fatalf("never: %s", what)
		}
	}
}
