package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is for anything that must happen at all.
const patience = time.Minute

// prometheus is a real one that watches nodes.
type prometheus struct {
	base string
}

var listens = regexp.MustCompile(`msg="?Listening on"? address=(127\.0\.0\.1:[1-9]\d*)`)

// startPrometheus starts one on prometheus.yml, with the nodes for its targets and a shorter interval.
func startPrometheus(t *testing.T, nodes []*node) *prometheus {
	t.Helper()
	dir := t.TempDir()
	var targets []string
	for _, n := range nodes {
		targets = append(targets, n.server.Admin)
	}
	replaced := strings.NewReplacer("15s", "1s", alertsFile, "alerts.yaml", "[127.0.0.1:9090]",
		"["+strings.Join(targets, ", ")+"]").Replace(read(t, "prometheus.yml"))
	fatal(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(replaced), 0o600))
	fatal(t, os.WriteFile(filepath.Join(dir, "alerts.yaml"), []byte(read(t, alertsFile)), 0o600))
	cmd := exec.Command("prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path",
		filepath.Join(dir, "data"),
		"--web.listen-address", "127.0.0.1:0", "--log.format", "logfmt")
	says, err := cmd.StderrPipe()
	fatal(t, err)
	fatal(t, cmd.Start())
	at, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(says)
		for lines.Scan() {
			if found := listens.FindStringSubmatch(lines.Text()); found != nil {
				at <- found[1]
			} else if strings.Contains(lines.Text(), "level=error") {
				t.Log(lines.Text())
			}
		}
		cmd.Wait()
	}()
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); <-ended })
	select {
	case address := <-at:
		p := &prometheus{"http://" + address}
		if !until(t, patience, p.ready) {
			t.Fatal("Prometheus does not become ready")
		}
		return p
	case <-ended:
		t.Fatal("Prometheus does not start")
	case <-time.After(patience):
		t.Fatal("Prometheus has not said where it listens")
	}
	return nil
}

func (p *prometheus) ready(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, "GET", p.base+"/-/ready", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// until looks again and again whether something holds, and reports whether it came to that in time.
func until(t *testing.T, patience time.Duration, holds func(context.Context) bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !holds(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// get asks the HTTP API, and reads what is under data. A refusal by Prometheus is an error.
func (p *prometheus) get(ctx context.Context, path string, query url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, "GET", p.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Status != "success" {
		return fmt.Errorf("%s %s: %d %s", path, query, resp.StatusCode, text)
	}
	return json.Unmarshal(answer.Data, into)
}

// finite returns how many numbers, which are not NaN or infinite, a query returns now.
func (p *prometheus) finite(ctx context.Context, expr string) (n int, err error) {
	var data struct {
		Result []struct{ Value [2]any }
	}
	if err := p.get(ctx, "/api/v1/query", url.Values{"query": {expr}}, &data); err != nil {
		return 0, err
	}
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			n++
		}
	}
	return n, nil
}

// silent asks each query until it returns a number, and returns those that never do. An error, as of a
// query that is none, is one at once.
func (p *prometheus) silent(t *testing.T, queries []string, patience time.Duration) (left []string) {
	t.Helper()
	left = queries
	until(t, patience, func(ctx context.Context) bool {
		var still []string
		for _, q := range left {
			n, err := p.finite(ctx, q)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			} else if n == 0 {
				still = append(still, q)
			}
		}
		left = still
		return len(left) == 0
	})
	return left
}
