package command

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupBringsTheServiceBack(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		data, base, kept := t.TempDir(), "http://127.0.0.1", filepath.Join(t.TempDir(), "backup.db")
		s := start(t, data, "--base-url", base)
		g := redeem(t, s, authorize(t, s), 200)
		before := must(t, "app", "create", "--data", data, "--name", "Before", "--domain", "a.example")
		if !running {
			s.stop()
		}
		v := must(t, "backup", kept, "--data", data)
		info, err := os.Stat(kept)
		if err != nil || info.Mode().Perm() != 0o600 || float64(info.Size()) != v["bytes"] ||
			v["master_key_included"] != false || !strings.Contains(v["note"].(string), "master.key") {
			t.Fatalf("running %t: %v, %v; printed %v", running, info, err, v)
		}
		after := must(t, "app", "create", "--data", data, "--name", "After", "--domain", "a.example")
		s.stop()
		r := must(t, "restore", kept, "--data", data)
		s = start(t, data, "--base-url", base)
		wantUserInfo(t, s, g.AccessToken, 200)
		refresh(t, s, g.RefreshToken, 200)
		machineToken(t, s, before["client_id"].(string), before["client_secret"].(string))
		wantFailure(t, 1, "there is no application", "app", "show", after["client_id"].(string), "--data", data)
		s.stop()
		must(t, "restore", r["kept"].(string), "--data", data) // and back again
		must(t, "app", "show", after["client_id"].(string), "--data", data)
	}
}

func TestBackupIsOneMomentAmidWrites(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				program{storage: Bolt()}.run(t.Context(), []string{"app", "create", "--data", s.data, "--name", "X", "--domain",
					"a.example"}, nil, io.Discard, io.Discard, nil)
			}
		}
	}()
	for range 5 {
		file := filepath.Join(t.TempDir(), "b.db")
		must(t, "backup", file, "--data", s.data)
		other := withKeyOf(t, s.data)
		must(t, "restore", file, "--data", other)
		must(t, "app", "show", firstRunOf(t, s.data).App.ClientID, "--data", other)
	}
	close(stop)
	<-done
}

func TestBackupReplacesNothingUnlessTold(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	file := filepath.Join(t.TempDir(), "b.db")
	os.WriteFile(file, []byte("mine"), 0o644)
	wantFailure(t, 1, "--force", "backup", file, "--data", data)
	if text, _ := os.ReadFile(file); string(text) != "mine" {
		t.Error("it was replaced all the same")
	}
	must(t, "backup", file, "--force", "--data", data)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 1000 {
		t.Errorf("replaced it is %v, %v", info, err)
	}
	wantFailure(t, 1, "no such file", "backup", filepath.Join(file+"-none", "b.db"), "--data", data)
}

func TestBackupOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	for want, data := range map[string]string{"there is no data folder": none,
		"no database in the data folder": t.TempDir()} {
		wantFailure(t, 1, want, "backup", filepath.Join(t.TempDir(), "b.db"), "--data", data)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a folder was made")
	}
}

// A server that dies amid a backup must not leave something that looks like one.
func TestBackupThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	data, into := t.TempDir(), t.TempDir()
	start(t, data).stop()
	l, err := net.Listen("unix", filepath.Join(data, "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	dying := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.keystile.database")
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
		panic(http.ErrAbortHandler)
	})}
	served := make(chan struct{})
	go func() { defer close(served); dying.Serve(l) }()
	defer func() { dying.Close(); <-served }()
	wantFailure(t, 1, "the copy is not complete", "backup", filepath.Join(into, "b.db"), "--data", data)
	if left, _ := os.ReadDir(into); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRestoreThatCanNotBeIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	file := filepath.Join(t.TempDir(), "b.db")
	must(t, "backup", file, "--data", data)
	wantFailure(t, 1, "stop the server", "restore", file, "--data", data)
	s.stop()
	before := filesOf(t, data)

	other := t.TempDir()
	start(t, other).stop()
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	must(t, "backup", foreign, "--data", other)
	text := filepath.Join(t.TempDir(), "text.db")
	os.WriteFile(text, []byte(strings.Repeat("garbage ", 10_000)), 0o600)
	cut := filepath.Join(t.TempDir(), "cut.db")
	whole, _ := os.ReadFile(file)
	os.WriteFile(cut, whole[:len(whole)/2], 0o600)
	for from, want := range map[string]string{
		foreign: foreign + ": storage: the master key is not the one", text: text + " is damaged", cut: cut + " is damaged",
		file + "-none": "no such file",
	} {
		wantFailure(t, 1, want, "restore", from, "--data", data)
	}
	if after := filesOf(t, data); len(after) != len(before) || !bytes.Equal(after["keystile.db"], before["keystile.db"]) {
		t.Error("something has changed all the same")
	}
	empty := t.TempDir()
	wantFailure(t, 1, "the master key is missing", "restore", file, "--data", empty)
	if left := filesOf(t, empty); len(left) > 0 {
		t.Errorf("left behind: %d files", len(left))
	}
}

// Where the database is damaged a restore is needed most.
func TestDamagedDatabaseCanBeRestored(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	file := filepath.Join(t.TempDir(), "b.db")
	must(t, "backup", file, "--data", data)
	os.WriteFile(filepath.Join(data, "keystile.db"), []byte("garbage"), 0o600)
	r := must(t, "restore", file, "--data", data)
	if text, err := os.ReadFile(r["kept"].(string)); string(text) != "garbage" {
		t.Errorf("kept is %q, %v", text, err)
	}
	signIn(t, start(t, data))
}

func filesOf(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if e.IsDir() {
			for name, content := range filesOf(t, filepath.Join(folder, e.Name())) {
				files[filepath.Join(e.Name(), name)] = content
			}
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
