package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/firstrun"
	"github.com/keystile/keystile/internal/test/said"
	"github.com/keystile/keystile/oauth/signin/passwords"
)

// everything is the storage of the program that is built.
func everything() Storage {
	s := Bolt()
	s.Others = []Storage{Postgres()}
	return s
}

// cheap hashes the passwords of services in this process, of which there are hundreds. Those in processes of their own
// take what Main takes.
var cheap = passwords.New(passwords.Cost{Memory: 64, Passes: 1})

// service is a "keystile serve" in this process.
type service struct {
	data, base, address string
	out, log            *said.Output
	cancel              context.CancelFunc
	ended               chan struct{}
	code                int
	expected            string // of a log line at level error
}

// start serves a data folder on a free port until the test ends.
func start(t *testing.T, data string, args ...string) *service {
	t.Helper()
	return startWith(t, data, nil, func(s *service) *said.Output { return s.out }, args...)
}

// startWith is start with an environment, of a service that says on one of its outputs where it is.
func startWith(t *testing.T, data string, env []string, says func(*service) *said.Output, args ...string) *service {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &service{data: data, out: said.New(), log: said.New(), cancel: cancel, ended: make(chan struct{})}
	args = append([]string{"serve", "--data", data, "--log-level", "debug"}, args...)
	if !slices.Contains(args, "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	go func() {
		defer close(s.ended)
		s.code = program{storage: everything(), passwords: cheap}.run(ctx, args, strings.NewReader(""), s.out,
			io.MultiWriter(s.log, &errorLog{t, s}), env)
	}()
	t.Cleanup(func() { s.stop() })
	s.address = says(s).Find(t, s.ended, `Listening on +(\S+)`)
	s.base = says(s).Find(t, s.ended, `running at (\S+)`)
	return s
}

// stop ends the service as a signal would and returns its exit code.
func (s *service) stop() int {
	s.cancel()
	<-s.ended
	return s.code
}

// wherever finds the service under any name, as if it were in the DNS.
func (s *service) wherever() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.address)
	}}
}

// errorLog fails the test when the service logs an error that it does not expect.
type errorLog struct {
	t *testing.T
	s *service
}

func (e *errorLog) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("level=ERROR")) && (e.s.expected == "" || !bytes.Contains(b, []byte(e.s.expected))) {
		e.t.Errorf("logged: %s", b)
	}
	return len(b), nil
}

// command runs a command to its end.
func command(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := program{storage: everything(), passwords: cheap}
	code = p.run(t.Context(), args, strings.NewReader(stdin), &out, &errs, nil)
	return code, out.String(), errs.String()
}

// must is command for one with --json that has to succeed.
func must(t *testing.T, args ...string) map[string]any {
	t.Helper()
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	code, out, errs := command(t, "", slices.Insert(slices.Clone(args), end, "--json")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
		t.Fatalf("keystile %q = %d, %s%s", args, code, out, errs)
	}
	return v
}

// wantFailure runs a command that has to fail with a code and a message.
func wantFailure(t *testing.T, want int, message string, args ...string) {
	t.Helper()
	code, out, errs := command(t, "", args...)
	if code != want || !strings.Contains(errs, message) || out != "" {
		t.Errorf("keystile %q = %d, stdout %q, stderr %q; want %d and %q", args, code, out, errs, want, message)
	}
}

func firstRunOf(t *testing.T, data string) (p firstrun.Record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "first-run.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// get returns an answer and its whole body.
func get(t *testing.T, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return do(t, client, req)
}

func do(t *testing.T, client *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// machineToken gets a token for an application itself.
func machineToken(t *testing.T, s *service, id, secret string) string {
	t.Helper()
	resp, body := post(t, s, "/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id},
		"client_secret": {secret}})
	var v struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || resp.StatusCode != 200 || v.AccessToken == "" {
		t.Fatalf("no token for %s: %d %s", id, resp.StatusCode, body)
	}
	return v.AccessToken
}

func post(t *testing.T, s *service, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(t, http.DefaultClient, req)
}
