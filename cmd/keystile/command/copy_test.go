package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/transfer"
)

// tableOf returns a table of what storage copy printed.
func tableOf(t *testing.T, said map[string]any, name string) map[string]any {
	t.Helper()
	for _, one := range said["tables"].([]any) {
		if table := one.(map[string]any); table["table"] == name {
			return table
		}
	}
	t.Fatalf("%v has no table %s", said, name)
	return nil
}

// A service moves while its users stay signed in: a long copy while it serves, and a short one.
func TestStoreIsCopiedWhileItIsServedAndUsersStaySignedIn(t *testing.T) {
	t.Parallel()
	data, other, base := t.TempDir(), t.TempDir(), "http://127.0.0.1"
	s := start(t, data, "--base-url", base)
	g := redeem(t, s, authorize(t, s), 200)
	copies := []string{"storage", "copy", "--from", "bolt:" + data, "--to", "bolt:" + other}
	dry := must(t, append(copies, "--dry-run")...)
	if _, err := os.Stat(filepath.Join(other, "keystile.db")); !errors.Is(err, os.ErrNotExist) ||
		tableOf(t, dry, "tokens")["written"] == 0.0 {
		t.Errorf("a dry run says %v and makes a file (%v)", dry, err)
	}
	first := must(t, copies...)
	if first["live"] != true || first["verified"] != true || first["finished"] != false ||
		!strings.Contains(first["next"].(string), "stop the servers") || strings.Contains(first["next"].(string), "--live") {
		t.Errorf("beside a server: %v", first)
	}
	if left, _ := filepath.Glob(filepath.Join(data, ".keystile*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
	for _, name := range []string{"master.key", "first-run.json"} { // the second for the test alone
		copyFile(t, filepath.Join(data, name), filepath.Join(other, name))
	}
	wantFailure(t, 1, "a copy that is not finished", "user", "list", "--data", other)
	wantFailure(t, 1, "run the same keystile storage copy again", "serve", "--data", other, "--listen", "127.0.0.1:0")
	late := must(t, "app", "create", "--data", data, "--name", "Late", "--domain", "a.example")
	s.stop()
	last := must(t, copies...)
	if last["live"] != false || last["finished"] != true || tableOf(t, last, "documents")["source_rows"].(float64) < 10 {
		t.Errorf("after the stop: %v", last)
	}
	if n := tableOf(t, last, "tokens"); n["written"] != 0.0 || n["same"] != true || n["source_rows"] != n["target_rows"] {
		t.Errorf("tokens that were there are written again: %v", n)
	}
	wantFailure(t, 1, "the target is not empty", copies...)
	s = start(t, other, "--base-url", base)
	wantUserInfo(t, s, g.AccessToken, 200)
	refresh(t, s, g.RefreshToken, 200)
	machineToken(t, s, late["client_id"].(string), late["client_secret"].(string))
	must(t, "audit", "verify", "--data", other)
	info, err := os.Stat(filepath.Join(other, "keystile.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the target's file has %v, %v", info.Mode(), err)
	}
}

func TestCopyOfARunningServersMomentCanBeFinished(t *testing.T) {
	t.Parallel()
	data, other := t.TempDir(), t.TempDir()
	s := start(t, data)
	said := must(t, "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+other, "--final")
	if said["live"] != false || said["finished"] != true {
		t.Errorf("with --final: %v", said)
	}
	s.stop()
	more := t.TempDir()
	said = must(t, "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+more, "--live")
	if said["live"] != true || said["finished"] != false || !strings.Contains(said["next"].(string), "without --live") {
		t.Errorf("with --live: %v", said)
	}
	wantFailure(t, 1, "it was copied to bolt:"+other, "serve", "--data", data, "--listen", "127.0.0.1:0")
}

// A start of a source whose copy was finished would be a service of the day before.
func TestFolderThatWasCopiedStartsNoMore(t *testing.T) {
	t.Parallel()
	data, other, base := t.TempDir(), t.TempDir(), "http://127.0.0.1"
	start(t, data, "--base-url", base).stop()
	must(t, "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+other)
	for _, name := range []string{"master.key", "first-run.json"} {
		copyFile(t, filepath.Join(data, name), filepath.Join(other, name))
	}
	for _, words := range []string{"serve --listen 127.0.0.1:0", "user create --username eve --password correct-horse",
		"app create --name Late --domain a.example", "key rotate", "setting set oauth_force_pkce true"} {
		wantFailure(t, 1, "it was copied to bolt:"+other, append(strings.Fields(words), "--data", data)...)
	}
	for _, words := range []string{"audit verify", "backup " + filepath.Join(t.TempDir(), "b")} {
		must(t, append(strings.Fields(words), "--data", data)...)
	}
	third := t.TempDir()
	must(t, "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+third) // it is read once more
	copyFile(t, filepath.Join(data, "master.key"), filepath.Join(third, "master.key"))
	must(t, "user", "create", "--username", "ada", "--password", "correct horse", "--data", third)
	wantFailure(t, 1, "it was copied to bolt:"+other, "serve", "--data", data, "--listen", "127.0.0.1:0")

	must(t, "app", "create", "--name", "Later", "--domain", "a.example", "--data", other)
	wantFailure(t, 1, "--back", "storage", "copy", "--from", "bolt:"+other, "--to", "bolt:"+data)
	must(t, "storage", "copy", "--from", "bolt:"+other, "--to", "bolt:"+data, "--back")
	wantFailure(t, 1, "it was copied to bolt:"+data, "serve", "--data", other, "--listen", "127.0.0.1:0")
	start(t, data, "--base-url", base).stop()
	if _, said, _ := command(t, "", "app", "list", "--data", data); !strings.Contains(said, "Later") {
		t.Errorf("what was made there did not come back: %s", said)
	}
	wantFailure(t, 1, "has not moved", "storage", "reopen", "bolt:"+data)
	if said := must(t, "storage", "reopen", "bolt:"+other); said["had_moved_to"] != "bolt:"+data {
		t.Errorf("reopen: %v", said)
	}
	start(t, other, "--base-url", base).stop()
}

func TestBackupIsCopiedFrom(t *testing.T) {
	t.Parallel()
	data, other, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "b.db")
	start(t, data).stop()
	must(t, "backup", file, "--data", data)
	defer start(t, data).stop() // a backup that was copied is no store that has moved
	if said := must(t, "storage", "copy", "--from", "bolt:"+file, "--to", "bolt:"+other); said["finished"] != true {
		t.Errorf("from a backup: %v", said)
	}
	wantFailure(t, 1, "is a file", "storage", "copy", "--from", "bolt:"+data, "--to", "bolt:"+file)
}

func TestCopyRefusesWithAdviceWhatItCannotCopy(t *testing.T) {
	t.Parallel()
	data, empty := t.TempDir(), t.TempDir()
	start(t, data).stop()
	from, to := "bolt:"+data, "bolt:"+empty
	for _, c := range []struct {
		code     int
		from, to string
		flag     string
		want     string
	}{
		{2, data, to, "", "give bolt:DIR"},
		{2, from, "oracle://u:opensesame@h/d?password=opensesame", "", "is no address"},
		{2, from, "mysql:host", "", "is no address"},
		{2, "bolt:", to, "", "names no data folder"},
		{2, from, from, "", "the same data folder"},
		{2, from, "bolt:" + data + "/.", "", "the same data folder"},
		{2, from, to, "--live --final", "exclude each other"},
		{1, "bolt:" + empty + "/none", to, "", "name the right one"},
		{1, to, from, "", "there is no data folder with a database"},
		{1, from, "bolt:" + empty + "/none", "", "mkdir -m 700"},
	} {
		args := append([]string{"storage", "copy", "--from", c.from, "--to", c.to}, strings.Fields(c.flag)...)
		wantFailure(t, c.code, c.want, args...)
		if _, out, errs := command(t, "", args...); strings.Contains(out+errs, "opensesame") {
			t.Errorf("it shows a password: %s", errs)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(empty, "*")); len(left) > 0 {
		t.Errorf("what was refused leaves %q", left)
	}
}

// A storage that is named by an address of its own, beside the program's.
func TestStorageWithAnAddressOfItsOwnIsCopiedToAndFrom(t *testing.T) {
	t.Parallel()
	data, back, before := t.TempDir(), t.TempDir(), t.TempDir()
	start(t, data).stop()
	copyFile(t, filepath.Join(data, "keystile.db"), filepath.Join(before, "keystile.db"))
	stores := map[string]*memory.Store{}
	s := Bolt()
	s.Others = []Storage{{Name: "heap", Schemes: []string{"heap", "ram"},
		OpenAt: func(_ context.Context, address string, _ Watch) (driver.Backend, error) {
			if stores[address] == nil {
				stores[address] = memory.New()
			}
			return kept{stores[address]}, nil
		}}}
	run := func(words ...string) (code int, said string) {
		var out bytes.Buffer
		code = program{storage: s}.run(t.Context(), words, nil, &out, &out, nil)
		return code, out.String()
	}
	const heap = "heap://u:opensesame@x?opensesame=1#opensesame"
	for _, c := range [][2]string{{"bolt:" + data, heap}, {heap, "bolt:" + back}} {
		code, said := run("storage", "copy", "--from", c[0], "--to", c[1])
		if code != 0 || !strings.Contains(said, "finished  true") || !strings.Contains(said, "heap://u@x?...") ||
			strings.Contains(said, "opensesame") {
			t.Errorf("from %s to %s: %d %s", c[0], c[1], code, said)
		}
		for _, table := range transfer.Tables() {
			if !strings.Contains(said, fmt.Sprintf("keystile: verifying %s: ", table)) {
				t.Errorf("nothing tells how far %s was: %s", table, said)
			}
		}
	}
	for _, forms := range []string{"heap", "bolt:DIR, heap://..."} {
		if _, said := run("help", "storage", "copy"); !strings.Contains(said, forms) {
			t.Errorf("the help has no %q: %s", forms, said)
		}
	}
	wantSameStores(t, before, back)
}

// kept stays open when a command closes it.
type kept struct{ *memory.Store }

func (kept) Close() error { return nil }

func wantSameStores(t *testing.T, a, b string) {
	t.Helper()
	sums := func(dir string) map[transfer.Table]transfer.Sum {
		s, err := bolt.OpenReadOnly(filepath.Join(dir, "keystile.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		report, err := transfer.Copy(t.Context(), s, memory.New(), transfer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[transfer.Table]transfer.Sum{}
		for _, table := range report.Tables {
			all[table.Table] = table.Target
		}
		return all
	}
	x, y := sums(a), sums(b)
	for table, sum := range x {
		if y[table] != sum {
			t.Errorf("%s: %+v and %+v", table, sum, y[table])
		}
	}
}

func TestAdapterThatCannotListItsStoreSaysSo(t *testing.T) {
	t.Parallel()
	data, other := t.TempDir(), t.TempDir()
	start(t, data).stop()
	s := Backend("mine", func(dir string) (driver.Backend, error) {
		b, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
		return struct{ driver.Backend }{b}, err
	})
	var out bytes.Buffer
	code := program{storage: s}.run(t.Context(), []string{"storage", "copy", "--from", "mine:" + data, "--to",
		"bolt:" + other}, nil, &out, &out, nil)
	if code != 1 || !strings.Contains(out.String(), "transfer.Adapter") || !strings.Contains(out.String(), "the source") {
		t.Errorf("it says %d %s", code, out.String())
	}
}

func TestAddressIsShownWithoutItsSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"bolt:/var/lib/keystile":                   "bolt:/var/lib/keystile",
		"postgres://u:s3cret@db/k?password=s3cret": "postgres://u@db/k?...",
		"postgres://u:s3cret@db:port/k":            "postgres:...",
		"postgres:u:s3cret@db":                     "postgres:...",
		"postgres://u:%zz@db/s3cret":               "postgres:...",
		"postgres://db/k#s3cret":                   "postgres://db/k",
	} {
		if got := shown(address); got != want {
			t.Errorf("shown(%q) = %q, want %q", address, got, want)
		}
	}
}
