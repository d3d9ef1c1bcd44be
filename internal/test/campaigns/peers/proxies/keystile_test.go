package proxies

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// perAddress is the number of requests a minute that an address has without a token here.
const perAddress = 20

// keystile is the program in a process of its own.
type keystile struct {
	binary, data, address string
	cmd                   *exec.Cmd
	ended                 chan struct{}
}

func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	binary := filepath.Join(t.TempDir(), "keystile")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/keystile/keystile/cmd/keystile")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// serve starts it behind a proxy on this machine, until the test ends.
func serve(t *testing.T, binary string, more ...string) *keystile {
	t.Helper()
	k := &keystile{binary: binary, data: filepath.Join(t.TempDir(), "data"), ended: make(chan struct{})}
	args := []string{"serve", "--data", k.data, "--listen", "127.0.0.1:0",
		"--demo=false", "--trusted-proxies", "127.0.0.1", "--limits-per-ip", strconv.Itoa(perAddress), "--log-requests=false"}
	k.cmd = exec.CommandContext(t.Context(), binary, append(args, more...)...)
	k.cmd.Stderr = t.Output()
	k.cmd.Cancel = func() error { return k.cmd.Process.Signal(syscall.SIGTERM) }
	k.cmd.WaitDelay = 20 * time.Second
	says, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(k.ended)
		lines := bufio.NewScanner(says) // to the end: a program whose output nobody takes is ended
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
				found <- strings.TrimSpace(address)
			}
		}
		k.cmd.Wait()
	}()
	t.Cleanup(func() { <-k.ended })
	select {
	case k.address = <-found:
	case <-k.ended:
		t.Fatal("keystile ends before it listens")
	}
	return k
}

func (k *keystile) stop() {
	k.cmd.Process.Signal(syscall.SIGTERM)
	<-k.ended
}

// app is an application and a token of its own.
type app struct {
	*keystile
	id, secret, token string
}

// register makes an application of the free tier. Getting the token was the first of its
// 60 requests a minute.
func (k *keystile) register(t *testing.T) *app {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), k.binary, "app", "create", "--name", "A", "--domain", "a.example",
		"--json", "--data", k.data).Output()
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.Secret == "" {
		t.Fatalf("app create: %v %s", err, out)
	}
	a := &app{keystile: k, id: made.ID, secret: made.Secret}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	a.post(t, "/oauth/token", url.Values{"grant_type": {"client_credentials"}}, &answer)
	if a.token = answer.AccessToken; a.token == "" {
		t.Fatal("no access_token")
	}
	return a
}

func (a *app) revoke(t *testing.T) {
	t.Helper()
	a.post(t, "/oauth/revoke", url.Values{"token": {a.token}}, &struct{}{})
}

// post asks Keystile itself, with the application's secret.
func (a *app) post(t *testing.T, path string, form url.Values, v any) {
	t.Helper()
	form.Set("client_id", a.id)
	form.Set("client_secret", a.secret)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.address+path,
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a.ask(t, r, v)
}

// charged returns what this month's calls were charged to.
func (a *app) charged(t *testing.T) map[string]int64 {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.address+"/api/v1/quota", nil)
	r.Header.Set("Authorization", "Bearer "+a.token)
	var v struct {
		Data struct {
			Month map[string]int64 `json:"usage_this_month"`
		} `json:"data"`
	}
	a.ask(t, r, &v)
	for product, calls := range v.Data.Month {
		if calls == 0 {
			delete(v.Data.Month, product)
		}
	}
	return v.Data.Month
}

func (a *app) ask(t *testing.T, r *http.Request, v any) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d (%v), want 200", r.Method, r.URL.Path, resp.StatusCode, err)
	}
}

// trail returns the calls on the audit trail of a keystile that has stopped.
func (k *keystile) trail(t *testing.T) (events []event.Event) {
	t.Helper()
	backend, err := bolt.Open(filepath.Join(k.data, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	for after := uint64(0); ; {
		page, err := backend.Records(t.Context(), after, driver.Page)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return events
		}
		for _, record := range page {
			var e event.Event
			if err := json.Unmarshal(record.Data, &e); err != nil {
				t.Fatal(err)
			}
			if after = record.Seq; e.Kind == event.Call {
				events = append(events, e)
			}
		}
	}
}
