package chart

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

const masterKey = "KEYSTILE_MASTER_KEY=bXkgbWFzdGVyIGtleSBmb3IgdGVzdHMgb25seSAhISE="

// mounted writes the configuration to a folder, and returns the container's arguments with that and another
// data folder.
func mounted(t *testing.T, m *manifests, data string) []string {
	t.Helper()
	dir := t.TempDir()
	fatal(t, os.WriteFile(filepath.Join(dir, "keystile.yaml"), []byte(m.configs["id-keystile"].Data["keystile.yaml"]),
		0o600))
	var args []string
	for _, arg := range m.set.Spec.Template.Spec.Containers[0].Args {
		args = append(args, strings.NewReplacer("/etc/keystile", dir, "/var/lib/keystile", data).Replace(arg))
	}
	return args
}

func TestProgramTakesTheConfiguration(t *testing.T) {
	for name, values := range every {
		t.Run(name, func(t *testing.T) {
			m := rendered(t, values)
			args := mounted(t, m, t.TempDir())
			cmd := exec.Command(program, append([]string{"config", "--json"}, args[1:]...)...)
			cmd.Env = environment(m.set.Spec.Template.Spec.Containers[0], masterKey)
			cmd.Stderr = t.Output()
			out, err := cmd.Output()
			fatal(t, err)
			var all []struct{ Key, Value, Source string }
			fatal(t, json.Unmarshal(out, &all))
			set := map[string]string{}
			for _, v := range all {
				if set[v.Key] = v.Value; v.Source == "default" {
					delete(set, v.Key)
				}
			}
			if !strings.HasPrefix(set["base_url"], "https://id.example.com") || set["listen"] != "0.0.0.0:8080" ||
				set["admin.listen"] != "0.0.0.0:9090" ||
				set["log.format"] != "json" || set["node_name"] != "id-keystile-0" || set["master_key"] == "" ||
				!strings.HasSuffix(set["data"], "/data") {
				t.Errorf("it is %v", set)
			}
			if several := *m.set.Spec.Replicas > 1; (set["storage_url"] != "") != several {
				t.Errorf("%d nodes have their store in %q", *m.set.Spec.Replicas, set["storage_url"])
			}
			grace := *m.set.Spec.Template.Spec.TerminationGracePeriodSeconds
			drain, err := time.ParseDuration(set["drain"])
			if err != nil || time.Duration(grace)*time.Second-drain < 15*time.Second {
				t.Errorf("it drains for %s (%v), and is killed after %d s", set["drain"], err, grace)
			}
			if name == "three nodes" && (set["redis_url"] == "" || set["log.level"] != "warn" ||
				set["admin.hosts"] != "metrics.internal" || set["mail.smtp.host"] != "mail.example.com") {
				t.Errorf("what was given is %v", set)
			}
			if name == "everything" && set["trusted_proxies"] != "10.42.0.0/16" {
				t.Errorf("it believes %q", set["trusted_proxies"])
			}
		})
	}
}

// serving starts the pod's program with its arguments and configuration in a volume, and returns where it listens.
func serving(t *testing.T, m *manifests, volume string) (cmd *exec.Cmd, at map[string]string) {
	t.Helper()
	cmd = exec.Command(program, mounted(t, m, volume)...)
	cmd.Env = environment(m.set.Spec.Template.Spec.Containers[0], masterKey, "KEYSTILE_LISTEN=127.0.0.1:0",
		"KEYSTILE_ADMIN_LISTEN=127.0.0.1:0")
	cmd.Stderr = t.Output()
	says, err := cmd.StdoutPipe()
	fatal(t, err)
	fatal(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	at = map[string]string{}
	for lines := bufio.NewScanner(says); len(at) < 2 && lines.Scan(); {
		for name, before := range map[string]string{"http": "Listening on ", "admin": "Admin listener "} {
			if _, address, is := strings.Cut(lines.Text(), before); is {
				at[name] = strings.TrimPrefix(strings.TrimSpace(address), "http://")
			}
		}
	}
	if len(at) != 2 {
		t.Fatal("it does not start")
	}
	go func() {
		for more := bufio.NewScanner(says); more.Scan(); {
		}
	}()
	return cmd, at
}

// The pod's program, with the pod's arguments and configuration, in a volume as Kubernetes makes it: its probes are
// answered, and SIGTERM ends it within its time, not ready at first.
func TestProgramServesAndAnswersItsProbes(t *testing.T) {
	m := rendered(t, oneNode+"drainSeconds: 1\n")
	c := m.set.Spec.Template.Spec.Containers[0]
	volume := t.TempDir()
	fatal(t, os.Chmod(volume, 0o770|os.ModeSetgid))
	cmd, at := serving(t, m, volume)
	for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if status, err := probe(at, p); status != http.StatusOK {
			t.Errorf("%s is answered %d, %v", p.HTTPGet.Path, status, err)
		}
	}
	fatal(t, cmd.Process.Signal(syscall.SIGTERM))
	began, seen := time.Now(), []int{}
	for time.Since(began) < time.Minute {
		status, err := probe(at, c.ReadinessProbe)
		if !slices.Contains(seen, status) {
			seen = append(seen, status)
		}
		if err != nil {
			break
		}
	}
	if !slices.Contains(seen, http.StatusServiceUnavailable) {
		t.Errorf("while it drains, it is ready by %v", seen)
	}
	grace := time.Duration(*m.set.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if err := cmd.Wait(); err != nil || time.Since(began) > grace {
		t.Errorf("it ends after %v, with %v", time.Since(began), err)
	}
}

// probe asks as the kubelet does, at the address of the port that is named.
func probe(at map[string]string, p *core.Probe) (int, error) {
	address := at[p.HTTPGet.Port.StrVal]
	if address == "" {
		return 0, fmt.Errorf("no port %v", p.HTTPGet.Port)
	}
	resp, err := http.Get("http://" + address + p.HTTPGet.Path)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}
