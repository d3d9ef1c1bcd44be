package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// effective runs keystile config and returns the values by key. It fails the test if a key is not known.
func effective(t *testing.T, env []string, args ...string) map[string]string {
	t.Helper()
	cmd := keystile(t, append([]string{"config", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	var values []struct{ Key, Value, Source string }
	if err := json.Unmarshal(out, &values); err != nil {
		t.Fatalf("keystile config %q %q: %v", args, env, err)
	}
	set := map[string]string{}
	for _, v := range values {
		if v.Source != "default" {
			set[v.Key] = v.Value
		}
	}
	if err != nil {
		t.Errorf("keystile config %q: %v", args, err)
	}
	return set
}

func TestConfigurationIsOneThatKeystileTakes(t *testing.T) {
	set := effective(t, nil, "--config", "keystile.yaml")
	for key, want := range map[string]string{"base_url": "https://id.example.com", "trusted_proxies": "127.0.0.1",
		"drain": "3s", "storage_url": "[secret]", "redis_url": "[secret]", "log.format": "json"} {
		if set[key] != want {
			t.Errorf("%s is %q, want %q", key, set[key], want)
		}
	}
	var env []string
	for line := range strings.Lines(read(t, "secrets.env")) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(line, "#") {
			if value != "" {
				t.Errorf("%s has a value that many would leave as it is", name)
			}
			env = append(env, name)
		}
	}
	if want := []string{"KEYSTILE_MASTER_KEY", "PGPASSWORD"}; !slices.Equal(env, want) {
		t.Errorf("secrets.env has %q, want %q", env, want)
	}
}

func TestUnitIsOneThatSystemdTakes(t *testing.T) {
	unit := read(t, "keystile@.service")
	_, start, _ := strings.Cut(unit, "\nExecStart=")
	start, _, _ = strings.Cut(start, "\n")
	fields := strings.Fields(strings.NewReplacer("%i", "8081", "%H", "host", "/etc/keystile/", "").Replace(start))
	if len(fields) < 3 || fields[0] != "/usr/local/bin/keystile" || fields[1] != "serve" {
		t.Fatalf("it starts %q", start)
	}
	set := effective(t, nil, fields[2:]...)
	if set["listen"] != "127.0.0.1:8081" || set["data"] != "/var/lib/keystile/8081" || set["node_name"] != "host-8081" {
		t.Errorf("a node has %v", set)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	environment := filepath.Join(dir, "secrets.env")
	text := strings.NewReplacer("/usr/local/bin/keystile", self, "/etc/keystile/secrets.env", environment).Replace(unit)
	path := filepath.Join(dir, "keystile@8081.service")
	for name, text := range map[string]string{path: text, environment: "A=b\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), path) || strings.Contains(string(out), "keystile@8081.service:") {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--threshold=20",
		path).CombinedOutput(); err != nil {
		t.Errorf("its exposure is more than 2.0 of 10: %v: %s", err, out)
	}
}

// compose is as much of a compose file as this one has; whatever else stands in one is refused.
type compose struct {
	Name     string
	Node     service `yaml:"x-node"`
	Services map[string]service
	Networks map[string]any
	Volumes  map[string]any
}

type service struct {
	Image       string
	Build       *struct{ Context, Dockerfile string }
	Restart     string
	User        string
	Environment map[string]string
	Entrypoint  []string
	Command     []string
	Volumes     []string
	Ports       []string
	Tmpfs       []string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Grace       string   `yaml:"stop_grace_period"`
	Networks    []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck *struct {
		Test              []string
		Interval, Timeout string
		Retries           int
	}
}

func readCompose(t *testing.T) (c compose) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, "compose.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNodesOfTheComposeFileAreSetUpWithKeysThatThereAre(t *testing.T) {
	c := readCompose(t)
	names := map[string]bool{}
	for _, name := range []string{"keystile1", "keystile2"} {
		s := c.Services[name]
		var env []string
		for key, value := range s.Environment {
			if before, secret, is := strings.Cut(value, "${"); is { // what .env gives
				_, after, _ := strings.Cut(secret, "}")
				value = before + "bXkgbWFzdGVyIGtleSBmb3IgdGVzdHMgb25seSAhISE=" + after
			}
			if key == "KEYSTILE_REDIS_URL" {
				value = "redis://:secret@redis:6379"
			}
			env = append(env, key+"="+value)
		}
		set := effective(t, env)
		if set["base_url"] != "https://localhost:8443" || set["listen"] != "0.0.0.0:8080" || set["drain"] == "" ||
			set["storage_url"] == "" || set["redis_url"] == "" || set["master_key"] == "" {
			t.Errorf("%s has %v", name, set)
		}
		names[set["node_name"]] = true
		if s.Grace != "30s" || !s.ReadOnly || s.Healthcheck == nil ||
			!slices.Contains(s.Volumes, "node"+name[len(name)-1:]+":/var/lib/keystile") {
			t.Errorf("%s is %+v", name, s)
		}
	}
	if len(names) != 2 {
		t.Errorf("the nodes are called %v", names)
	}
}

func TestComposeFileNamesExistingFiles(t *testing.T) {
	c := readCompose(t)
	if len(c.Services) != 7 {
		t.Errorf("%d services", len(c.Services))
	}
	text := read(t, "compose.yaml")
	for name, s := range c.Services {
		if (s.Image == "") == (s.Build == nil) {
			t.Errorf("%s has an image or is built: %+v", name, s)
		}
		if s.Build != nil {
			file := filepath.Join(s.Build.Context, s.Build.Dockerfile)
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			_, declared := c.Volumes[from]
			if _, err := os.Stat(from); strings.HasPrefix(from, "./") && err != nil || !strings.HasPrefix(from, "./") &&
				!declared {
				t.Errorf("%s: the volume %s is not there", name, v)
			}
		}
		for on, how := range s.DependsOn {
			needed, there := c.Services[on]
			if !there || how.Condition == "service_healthy" && needed.Healthcheck == nil {
				t.Errorf("%s waits for %s to be %s, which it never says", name, on, how.Condition)
			}
		}
		for _, n := range s.Networks {
			if _, there := c.Networks[n]; !there {
				t.Errorf("%s: no network %s", name, n)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is reached from other machines: %s", name, p)
			}
		}
	}
	for _, host := range []string{"@pgbouncer:6432", "%40postgres%3A5432", "@redis:6379"} {
		if !strings.Contains(text, host) {
			t.Errorf("nobody is reached at %s", host)
		}
	}
	if ini := read(t, "compose/pgbouncer.ini"); !strings.Contains(ini, "host=postgres port=5432") ||
		!strings.Contains(ini, "listen_port = 6432") {
		t.Errorf("pgbouncer.ini is %s", ini)
	}
}

// compose/nginx.sh makes nginx.conf fit: what it looks for has to be there.
func TestScriptsOfTheComposeFileRun(t *testing.T) {
	for _, name := range []string{"replication.sh", "standby.sh", "nginx.sh"} {
		if out, err := exec.Command("sh", "-n", filepath.Join("compose", name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(read(t, "nginx.conf")), 0o644); err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("/run/keystile", dir+"/run", "/etc/keystile", dir).Replace(read(t, "compose/nginx.sh"))
	// names that nobody knows here
	script = strings.NewReplacer("keystile1:", "127.0.0.1:", "keystile2:", "127.0.0.2:").Replace(script)
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("nginx.sh: %v: %s", err, out)
	}
	made, err := os.ReadFile(filepath.Join(dir, "run", "nginx.conf"))
	if err != nil || !strings.Contains(string(made), "listen 8443 ssl") ||
		strings.Contains(string(made), "listen 127.0.0.1") {
		t.Errorf("it makes %s, %v", made, err)
	}
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed: apt-get install it")
	}
	if out, err := exec.Command("nginx", "-t", "-e", "stderr", "-p", dir+"/run", "-c", dir+"/run/nginx.conf", "-g",
		fmt.Sprintf("daemon off;%s", asRoot())).CombinedOutput(); err != nil {
		t.Errorf("nginx -t: %v: %s", err, out)
	}
}
