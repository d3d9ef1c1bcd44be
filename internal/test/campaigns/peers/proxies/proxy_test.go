package proxies

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/program"
)

const examples = "../../../../../examples/behind"

// kind is a proxy that can be run here.
type kind struct {
	name  string
	files []string // of examples/behind; the program is told of the first
	args  func(dir, file string) []string
	rare  bool // no distribution has it: it is run where it is installed
	// retells: its refusals are its own words, because it loses Keystile's.
	retells bool
	// withholds is the text, in the last of the files, that keeps the caller's token from the service.
	withholds string
}

var kinds = []kind{
	{name: "nginx", files: []string{"nginx.conf"}, retells: true, withholds: `proxy_set_header Authorization "";`, args: func(dir, file string) []string {
		// another user could not enter the test's folder
		return []string{"-e", "stderr", "-p", dir, "-c", file, "-g", "daemon off; user root;"}
	}},
	{name: "caddy", files: []string{"Caddyfile"}, withholds: "request_header -Authorization",
		args: func(_, file string) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", file}
		}},
	{name: "traefik", files: []string{"traefik.yml", "traefik-dynamic.yml"}, rare: true, withholds: ", without-token",
		args: func(_, file string) []string {
			return []string{"--configFile=" + file}
		}},
	{name: "envoy", files: []string{"envoy.yaml"}, rare: true, withholds: "authorization, ",
		args: func(_, file string) []string {
			return []string{"-c", file, "--use-dynamic-base-id"}
		}},
}

// withEach runs a test before each proxy that is there.
func withEach(t *testing.T, test func(*testing.T, kind)) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	for _, k := range kinds {
		_, err := exec.LookPath(k.name)
		if err != nil && k.rare {
			t.Logf("%s is not installed: only its configuration is judged", k.name)
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			if err != nil {
				t.Skipf("%s is not installed: apt-get install it", k.name)
			}
			test(t, k)
		})
	}
}

// start runs the proxy with its example, the addresses replaced, until the test ends. It returns
// where clients come. Lines that leave names are taken out of its files.
func (k kind) start(t *testing.T, keystile, service string, leave ...string) string {
	t.Helper()
	dir, front := t.TempDir(), program.Free(t)
	for _, name := range k.files {
		text := swap(t, name, map[string]string{"8000": front, "8080": keystile, "9000": service})
		text = strings.ReplaceAll(text, "examples/behind/", dir+"/")
		for _, out := range leave {
			text = strings.ReplaceAll(text, out, "")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program.Ready(t, front, program.Run(t, dir, k.name, k.args(dir, filepath.Join(dir, k.files[0]))...))
	if conn, err := net.Dial("tcp", strings.Replace(front, "127.0.0.1", "127.0.0.2", 1)); err == nil {
		conn.Close()
		t.Error("it listens on more addresses than it was told")
	}
	return front
}

// swap returns an example with other addresses, by the port that stands for each. Where it
// has an address, it must say that it is the reader's to change: there, or right above.
func swap(t *testing.T, name string, addresses map[string]string) string {
	t.Helper()
	lines := strings.Split(read(t, name), "\n")
	above := false
	for i, line := range lines {
		marked := strings.Contains(line, "CHANGE") || above
		if above = marked; strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		above = false
		for port, address := range addresses {
			host, number, _ := net.SplitHostPort(address)
			lines[i] = strings.ReplaceAll(lines[i], "127.0.0.1:"+port, address)
			lines[i] = strings.ReplaceAll(lines[i], "127.0.0.1, port_value: "+port, host+", port_value: "+number)
		}
		if lines[i] != line && !marked {
			t.Errorf("%s:%d: an address that is not marked CHANGE: %s", name, i+1, line)
		}
	}
	return strings.Join(lines, "\n")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
