package fileservers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/program"
)

const (
	key     = "stored-credential" // that of the capability
	inside  = "for everybody"
	outside = "TOP SECRET" // what every file outside of /files/ says
)

// server is a file server: start serves a folder until the test ends, with /admin/ only
// for those who have the key, and returns the address.
type server struct {
	name  string
	start func(t *testing.T, root string) string
}

var servers = []server{
	{"nginx", func(t *testing.T, root string) string {
		return process(t, "nginx", func(dir, address string) ([]string, string) {
			return []string{"-e", "stderr", "-p", dir, "-c", dir + "/config", "-g", "daemon off; user root;"}, fmt.Sprintf(`
worker_processes 1;
error_log stderr crit;
pid nginx.pid;
events {}
http {
	access_log off;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	default_type text/plain;
	server {
		listen %[1]s;
		root %[2]s;
		location /files/ {}
		location /admin/ { if ($http_authorization != "Bearer %[3]s") { return 403; } }
		location /again/ { proxy_pass http://%[1]s/; } # decodes, normalises and encodes anew
	}
}`, address, root, key)
		})
	}},
	{"caddy", func(t *testing.T, root string) string {
		return process(t, "caddy", func(dir, address string) ([]string, string) {
			return []string{"run", "--adapter", "caddyfile", "--config", dir + "/config"}, fmt.Sprintf(`
{
	admin off
	auto_https off
	log {
		level ERROR
	}
}
http://%s {
	root * %s
	@stranger {
		path /admin/*
		not header Authorization "Bearer %s"
	}
	respond @stranger 403
	handle_path /again/* {
		file_server
	}
	file_server
}`, address, root, key)
		})
	}},
	{"net_http", func(t *testing.T, root string) string {
		files := http.FileServer(http.Dir(root))
		again := http.StripPrefix("/again", files)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/admin/") && r.Header.Get("Authorization") != "Bearer "+key:
				w.WriteHeader(http.StatusForbidden)
			case strings.HasPrefix(r.URL.Path, "/again/"):
				again.ServeHTTP(w, r)
			default:
				files.ServeHTTP(w, r)
			}
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}},
}

// folder returns the files that every server has: those in /files/ are what tools are
// for, and there is as much beside it.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"www/files/report": inside, "www/files/sub/report": inside, "www/files/a b+c.txt": inside, "www/files/..name": inside,
		"secret": outside, "www/secret": outside, "www/admin/secret": outside, "www/index.html": outside,
		"www/admin/index.html": outside,
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "www")
}

// process runs a program that listens at an address, until the test ends. Told its folder
// and the address, setup says with which arguments and with which file called config.
func process(t *testing.T, name string, setup func(dir, address string) (args []string, config string)) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: apt-get install it", name)
	}
	dir, address := t.TempDir(), program.Free(t)
	args, config := setup(dir, address)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := program.Run(t, dir, name, args...)
	program.Listening(t, address, ended)
	return address
}
