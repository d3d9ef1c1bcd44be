package proxies

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/program"
)

// family is a server that makes a variable of each header's name, as CGI has it.
type family struct {
	name  string
	needs []string // programs
	// start serves a page that prints its variables, of which each line is one, until the test ends.
	start func(t *testing.T, dir, address string)
}

const (
	pageInPHP   = `<?php header("Content-Type: text/plain"); foreach ($_SERVER as $name => $value) if (is_string($value)) echo "$name=$value\n";`
	pageInShell = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\nenv\n"
	lighttpd    = `
server.document-root = %q
server.bind = "127.0.0.1"
server.port = %s
server.modules = ( %s )
server.errorlog = "/dev/stderr"
url.rewrite-once = ( "" => "/%s" )
%s
`
)

var families = []family{
	{"php -S", []string{"php"}, func(t *testing.T, dir, address string) {
		write(t, dir, "page.php", pageInPHP)
		program.Ready(t, address, program.Run(t, dir, "php", "-S", address, filepath.Join(dir, "page.php")))
	}},
	{"php-cgi, by FastCGI of Caddy", []string{"php-cgi", "caddy"}, func(t *testing.T, dir, address string) {
		write(t, dir, "index.php", pageInPHP)
		php := backend(t, dir)
		write(t, dir, "Caddyfile",
			fmt.Sprintf("{\n\tadmin off\n\tauto_https off\n}\nhttp://%s {\n\tbind 127.0.0.1\n\troot * %s\n\tphp_fastcgi %s\n}\n",
				address, dir, php))
		program.Ready(t, address, program.Run(t, dir, "caddy", "run", "--adapter", "caddyfile", "--config",
			filepath.Join(dir, "Caddyfile")))
	}},
	{"php-cgi, by FastCGI of lighttpd", []string{"php-cgi", "lighttpd"}, func(t *testing.T, dir, address string) {
		write(t, dir, "page.php", pageInPHP)
		host, port, _ := net.SplitHostPort(backend(t, dir))
		serveByLighttpd(t, dir, address, "page.php", "mod_fastcgi", fmt.Sprintf(`fastcgi.server = ( ".php" => (( "host" => %q, "port" => %s )) )`, host, port))
	}},
	{"php-cgi, by CGI of lighttpd", []string{"php-cgi", "lighttpd"}, func(t *testing.T, dir, address string) {
		write(t, dir, "page.php", pageInPHP)
		php, _ := exec.LookPath("php-cgi")
		serveByLighttpd(t, dir, address, "page.php", "mod_cgi", fmt.Sprintf(`cgi.assign = ( ".php" => %q )`, php))
	}},
	{"a script, by CGI of lighttpd", []string{"lighttpd"}, func(t *testing.T, dir, address string) {
		write(t, dir, "page.sh", pageInShell)
		serveByLighttpd(t, dir, address, "page.sh", "mod_cgi", `cgi.assign = ( ".sh" => "/bin/sh" )`)
	}},
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// backend runs PHP where FastCGI asks, and returns the address.
func backend(t *testing.T, dir string) string {
	t.Helper()
	address := program.Free(t)
	program.Until(t, program.Run(t, dir, "php-cgi", "-b", address), func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return address
}

func serveByLighttpd(t *testing.T, dir, address, page, module, how string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(address)
	write(t, dir, "lighttpd.conf", fmt.Sprintf(lighttpd, dir, port, `"mod_rewrite", "`+module+`"`, page, how))
	program.Ready(t, address, program.Run(t, dir, "lighttpd", "-D", "-f", filepath.Join(dir, "lighttpd.conf")))
}

// variables returns what a page has printed.
func (a answer) variables(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(a.body) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			all[name] = value
		}
	}
	if a.status != 200 || len(all) < 5 {
		t.Fatalf("answered %d %s, want variables", a.status, a.body)
	}
	return all
}

// A header that a service in Go ignores may be the gateway's own for one that makes a variable of its name.
func TestHeaderNamesNeverBecomeVariablesOfTheGateway(t *testing.T) {
	binary := build(t)
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			for _, program := range f.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed: apt-get install php-cli php-cgi lighttpd caddy", program)
				}
			}
			service := program.Free(t)
			f.start(t, t.TempDir(), service)
			direct := client{service, "127.0.0.31", ""}
			if got := direct.get(t, "/", "X-Keystile.User", "forged").variables(t); got["HTTP_X_KEYSTILE_USER"] != "forged" &&
				got["HTTP_X_KEYSTILE.USER"] != "forged" {
				t.Fatalf("asked directly it has %v: the test shows nothing", got)
			}
			k := serve(t, binary, "--gateway-products", "svc=http://"+service)
			a := k.register(t)
			c := client{k.address, "127.0.0.31", a.token}
			for _, sent := range folded(slices.Concat(identity, claimed, []string{"X-Real-IP", "X-Forwarded-For"})) {
				headers := []string{"X-Own", "own"}
				for _, name := range sent {
					headers = append(headers, name, "forged")
				}
				got := c.get(t, "/svc/x", headers...).variables(t)
				for name, value := range got {
					if strings.Contains(value, "forged") {
						t.Errorf("beside %q it has %s=%s", sent, name, value)
					}
				}
				if user, there := got["HTTP_X_KEYSTILE_USER"]; there || got["HTTP_X_KEYSTILE_CLIENT"] != a.id ||
					got["HTTP_X_KEYSTILE_TIER"] != "free" || got["HTTP_X_OWN"] != "own" {
					t.Errorf("beside %q it has the user %q and %v", sent, user, got)
				}
			}
		})
	}
}
