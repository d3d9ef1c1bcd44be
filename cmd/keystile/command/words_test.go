package command

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage"
)

// What cannot be written was not said, whoever writes it.
func TestOutputThatCannotBeWrittenFails(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full: ", err)
	}
	defer full.Close()
	for _, words := range []string{
		"--help", "help", "help serve", "app --help", "app create --help", "completion bash", "--version", "config",
		"config --reference",
	} {
		var errs strings.Builder
		p := program{storage: everything()}
		code := p.run(t.Context(), strings.Fields(words), strings.NewReader(""), full, &errs, nil)
		if code != 1 || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("keystile %s >/dev/full = %d, %s", words, code, &errs)
		}
	}
}

func TestReadySaysThatTheClockIsWrong(t *testing.T) {
	t.Parallel()
	wrong := unready{fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrClock)}
	w := httptest.NewRecorder()
	reply.NewMux(nil, healthRoutes(wrong)...).ServeHTTP(w, httptest.NewRequest("GET", "/healthz/ready", nil))
	body := w.Body.String()
	if w.Code != 503 || !strings.Contains(body, "set both by NTP") || strings.Contains(body, "not answer") {
		t.Errorf("it answers %d %s", w.Code, body)
	}
}

type unready struct{ error }

func (u unready) Ready(context.Context) error { return u.error }

// A node's folder has no database, and its server reads the trail.
func TestCommandsOfANodeSayThatTheStoreIsElsewhere(t *testing.T) {
	t.Parallel()
	address, data := database.WithSchema(t), t.TempDir()
	s := start(t, data, "--storage-url", address, "--drain", "0")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "search"}, {"audit", "export"}} {
		if code, _, errs := command(t, "", append(args, "--data", data)...); code != 0 {
			t.Errorf("keystile %q beside its server = %d %s", args, code, errs)
		}
	}
	s.stop()
	for _, args := range [][]string{
		{"audit", "verify"}, {"audit", "search"}, {"audit", "export"}, {"user", "list"}, {"serve", "--listen", "127.0.0.1:0"},
	} {
		wantFailure(t, 1, "--storage-url the address of the database where the store is", append(args, "--data", data)...)
	}
	backup := []string{"backup", filepath.Join(t.TempDir(), "b")}
	for _, args := range [][]string{{"audit", "verify"}, backup, {"storage", "compact"}} {
		wantFailure(t, 1, "with --storage-url the address", append(args, "--data", t.TempDir())...)
	}
}

// The address and the key are enough: no folder is needed, and none made.
func TestCommandsWithAnAddressAndAKeyNeedNoFolder(t *testing.T) {
	address, env := database.WithSchema(t), aKey()
	startWith(t, t.TempDir(), env, listening, "--storage-url", address, "--drain", "0").stop()
	t.Chdir(t.TempDir())
	run := func(env []string, args ...string) (int, string) {
		var out, errs strings.Builder
		code := program{storage: everything()}.run(t.Context(), args, strings.NewReader(""), &out, &errs, env)
		return code, out.String() + errs.String()
	}
	for _, args := range [][]string{
		{"user", "list"}, {"audit", "verify"}, {"audit", "search"}, {"setting", "list"},
		{"app", "create", "--name", "x", "--domain", "a.example"},
	} {
		if code, said := run(env, append(args, "--storage-url", address)...); code != 0 {
			t.Errorf("keystile %q = %d %s", args, code, said)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("a folder is made: %v, %v", left, err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{env, []string{"user", "list", "--storage-url", address, "--data", missing}}, // a name that was mistyped
		{nil, []string{"user", "list", "--storage-url", address}},
		{env, []string{"user", "list"}},
	} {
		if code, said := run(c.env, c.args...); code != 1 || !strings.Contains(said, "there is no data folder") {
			t.Errorf("keystile %q = %d %s", c.args, code, said)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mistyped folder is made: %v", err)
	}
}
