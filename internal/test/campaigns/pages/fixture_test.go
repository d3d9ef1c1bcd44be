package pages

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/command"
	"github.com/keystile/keystile/internal/test/said"
)

// TestMain makes the test binary a keystile: each service is a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("BE_KEYSTILE") == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv("BE_KEYSTILE")
	command.Main(command.Bolt())
}

// keystile is a process without anything configured by the environment.
func keystile(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KEYSTILE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// service is a "keystile serve".
type service struct {
	data, base, address string
	out, log            *said.Output
	process             *os.Process
	ended               chan struct{}
}

// start serves a data folder on a free port until the test ends.
func start(t *testing.T, data string, args ...string) *service {
	t.Helper()
	args = append([]string{"serve", "--data", data, "--log-level", "debug"}, args...)
	if !slices.Contains(args, "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	cmd := keystile(t, args...)
	s := &service{data: data, out: said.New(), log: said.New(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s.out, s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	go func() { defer close(s.ended); cmd.Wait() }()
	t.Cleanup(func() {
		s.stop()
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "DATA RACE") {
				t.Errorf("logged: %s", line)
			}
		}
	})
	s.address = s.out.Find(t, s.ended, `Listening on +(\S+)`)
	s.base = s.out.Find(t, s.ended, `running at (\S+)`)
	return s
}

// stop ends the service.
func (s *service) stop() {
	s.process.Signal(syscall.SIGTERM)
	<-s.ended
}

// must runs a command with --json that has to succeed.
func must(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := keystile(t, append(args, "--json")...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var v map[string]any
	if wrong := json.Unmarshal(out.Bytes(), &v); err != nil || wrong != nil {
		t.Fatalf("keystile %q: %v, %s%s", args, err, &out, &errs)
	}
	return v
}

// firstRun holds what a service tells of itself the first time.
type firstRun struct {
	Admin struct{ Username, Password string }
	App   struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
}

func firstRunOf(t *testing.T, data string) (p firstRun) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "first-run.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	fatal(t, err)
	return p
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get returns an answer and its whole body.
func get(t *testing.T, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	fatal(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return do(t, client, req)
}

// post sends a form.
func post(t *testing.T, s *service, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+path,
		strings.NewReader(form.Encode()))
	fatal(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(t, &http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}, req)
}

func do(t *testing.T, client *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := client.Do(req)
	fatal(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fatal(t, err)
	return resp, string(body)
}

// machineToken gets a token for an application itself.
func machineToken(t *testing.T, s *service, id, secret string) string {
	t.Helper()
	_, body := post(t, s, "/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id},
		"client_secret": {secret}})
	var v struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || v.AccessToken == "" {
		t.Fatalf("no token for %s: %s", id, body)
	}
	return v.AccessToken
}

// cookieOf signs the first administrator in.
func cookieOf(t *testing.T, s *service) *http.Cookie {
	t.Helper()
	who := firstRunOf(t, s.data).Admin
	resp, body := post(t, s, "/oauth/signin", url.Values{"username": {who.Username}, "password": {who.Password}})
	for _, c := range resp.Cookies() {
		if c.Name == "open_sso_token" {
			return c
		}
	}
	t.Fatalf("sign-in = %d %s", resp.StatusCode, body)
	return nil
}

var mailedCode = regexp.MustCompile(`\b\d{6}\b`)
