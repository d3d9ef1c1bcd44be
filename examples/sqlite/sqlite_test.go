package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/storagetest"
	"github.com/keystile/keystile/storage/storagetest/planted"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}

func TestReopen(t *testing.T) {
	storagetest.RunDurable(t, func(t *testing.T, folder string) driver.Backend { return open(t, folder) })
}

func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("some 500 bugs on a database of their own each")
	}
	planted.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}

func TestTransfer(t *testing.T) {
	storagetest.RunTransfer(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}

func open(t testing.TB, folder string) driver.Backend {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(folder, "keystile.db"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A commit waits for the disk; callers that come meanwhile share the next one.
func BenchmarkContract(b *testing.B) {
	storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, b.TempDir()) })
}

func TestDatabaseOfAnotherProgramOrInUseIsRefused(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	if _, err := Open(t.Context(), filepath.Join(folder, "keystile.db")); err == nil ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, folder).Close()

	theirs := filepath.Join(folder, "theirs.db")
	db, err := sql.Open("sqlite", theirs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE songs (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(t.Context(), theirs); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("another program's: %v", err)
	}
	if err := os.WriteFile(theirs, []byte(strings.Repeat("no database at all ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), theirs); err == nil {
		t.Error("a text was opened as a database")
	}
}

func TestCopyIsWholeAndADamagedOneIsFound(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder).(*Store)
	defer s.Close()
	for i := range 100 {
		if _, err := s.Put(t.Context(), driver.Doc{Kind: "app", ID: fmt.Sprint(i), Index: []string{"all"},
			Data: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	var copied bytes.Buffer
	if n, err := s.Copy(&copied); err != nil || n != int64(copied.Len()) {
		t.Fatal(n, err)
	}
	name := filepath.Join(folder, "copy.db")
	if err := os.WriteFile(name, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if counts, err := Check(name); err != nil || counts["doc"] != 100 {
		t.Errorf("the copy has %v, %v", counts, err)
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, copied.Bytes()) {
		t.Errorf("looking at the copy has changed it (%v)", err)
	}
	damaged := copied.Bytes()
	for i := len(damaged) / 2; i < len(damaged)/2+8192; i++ {
		damaged[i] = 0xAA
	}
	if err := os.WriteFile(name, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if counts, err := Check(name); err == nil {
		t.Errorf("a damaged copy has %v", counts)
	}
}

// The program is the whole one: what it makes on SQLite is there for the next command.
func TestWholeProgramRunsOnIt(t *testing.T) {
	binary, data := filepath.Join(t.TempDir(), "keystile"), filepath.Join(t.TempDir(), "data")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	server := exec.CommandContext(t.Context(), binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level",
		"warn")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	var first struct {
		BaseURL string `json:"base_url"`
		App     struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		} `json:"app"`
	}
	for first.BaseURL == "" {
		if text, err := os.ReadFile(filepath.Join(data, "first-run.json")); err == nil {
			json.Unmarshal(text, &first)
		}
		if t.Context().Err() != nil {
			t.Fatal("it does not start")
		}
		runtime.Gosched()
	}
	resp, err := http.PostForm(first.BaseURL+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {first.App.ID}, "client_secret": {first.App.Secret},
	})
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("no token: %v, %v", resp, err)
	}
	resp.Body.Close()
	run := func(args ...string) string {
		t.Helper()
		said, err := exec.CommandContext(t.Context(), binary, append(args, "--data", data)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
		return string(said)
	}
	run("app", "create", "--name", "Shop", "--domain", "shop.example.com")
	backup := filepath.Join(t.TempDir(), "backup.db")
	run("backup", backup)
	run("app", "create", "--name", "Late", "--domain", "late.example.com")
	server.Process.Kill() // its log stays behind, with what was answered
	server.Wait()
	left, _ := filepath.Glob(filepath.Join(data, "*-wal"))
	if len(left) != 1 {
		t.Fatalf("a killed server leaves %v", left)
	}
	log, err := os.ReadFile(left[0])
	if err != nil {
		t.Fatal(err)
	}
	if list := run("app", "list"); !strings.Contains(list, "Shop") || !strings.Contains(list, "Late") {
		t.Errorf("after the end there is\n%s", list)
	}
	if err := os.WriteFile(left[0], log, 0o600); err != nil { // as if nothing had been read since
		t.Fatal(err)
	}
	run("restore", backup)
	if list := run("app", "list"); !strings.Contains(list, "Shop") || strings.Contains(list, "Late") {
		t.Errorf("after restore there is\n%s", list)
	}
	run("audit", "verify")
}
