package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/internal/test/said"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// refused runs a command line with an environment, which has to fail and to change nothing in a folder.
func refused(t *testing.T, data string, env []string, says []string, args ...string) {
	t.Helper()
	before := filesOf(t, data)
	var out, errs bytes.Buffer
	code := program{storage: everything()}.run(t.Context(), args, strings.NewReader(""), &out, &errs, env)
	for _, want := range says {
		if code != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("keystile %q = %d, %s; want 1 and %q", args, code, &errs, want)
		}
	}
	if after := filesOf(t, data); !maps.EqualFunc(before, after, bytes.Equal) {
		t.Errorf("keystile %q has changed the folder: %q are there now", args, slices.Sorted(maps.Keys(after)))
	}
}

// aKey returns an environment with a master key.
func aKey() []string {
	key := make([]byte, 32)
	rand.Read(key)
	return []string{"KEYSTILE_MASTER_KEY=" + base64.StdEncoding.EncodeToString(key)}
}

func listening(s *service) *said.Output { return s.out }

func TestServiceWhoseDatabaseIsGoneIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	g := redeem(t, s, authorize(t, s), 200)
	base := s.base
	s.stop()
	backup := filepath.Join(t.TempDir(), "b.db")
	must(t, "backup", backup, "--data", data)
	file := filepath.Join(data, "keystile.db")
	for _, is := range []func(){
		func() { fatal(t, os.Remove(file)) },
		func() { fatal(t, os.WriteFile(file, nil, 0o600)) },
	} {
		is()
		says := []string{
			"there is no database with anything in it at " + file, "first-run.json", "store.json", "usage",
			"restore FILE", "storage forget --data " + data,
		}
		for _, args := range [][]string{
			{"serve", "--listen", "127.0.0.1:0"}, {"user", "create", "--username", "ada", "--password", "correct horse battery"},
			{"app", "create", "--name", "x", "--domain", "a.example"}, {"setting", "set", "mcp.default_access", "owner"},
			{"user", "list"},
		} {
			refused(t, data, nil, says, append(args, "--data", data)...)
		}
	}
	must(t, "restore", backup, "--data", data)
	s = start(t, data, "--base-url", base)
	refresh(t, s, g.RefreshToken, 200)
}

// Each of what a service leaves says by itself that there was a store, also where the key is gone too.
func TestTraceOfAStoreSaysThatItWasThere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"first-run.json", "usage/lock", "store.json", "mail/1.eml",
		"keystile.db.before-restore-20261126T000000.000Z", "master.key.retired-0011223344556677",
	} {
		data := t.TempDir()
		fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(data, name)), 0o700))
		fatal(t, os.WriteFile(filepath.Join(data, name), []byte(`{"store":"x"}`), 0o600))
		trace, _, _ := strings.Cut(name, "/")
		refused(t, data, nil, []string{trace + " is there"}, "serve", "--data", data, "--listen", "127.0.0.1:0")
	}
	data := t.TempDir()
	fatal(t, os.WriteFile(filepath.Join(data, "store.json"), []byte("{"), 0o600))
	refused(t, data, nil, []string{"store.json says which store"}, "serve", "--data", data, "--listen", "127.0.0.1:0")
}

func TestFolderThatNeverHadAStoreGetsOne(t *testing.T) {
	t.Parallel()
	empty, keyed, own := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "keys")
	key := strings.TrimPrefix(aKey()[0], "KEYSTILE_MASTER_KEY=") + "\n"
	fatal(t, os.WriteFile(filepath.Join(keyed, "master.key"), []byte(key), 0o600))
	fatal(t, os.WriteFile(filepath.Join(keyed, "keystile.yaml"), []byte("log.level: debug\n"), 0o600))
	fatal(t, os.WriteFile(own, []byte(key), 0o600))
	start(t, empty).stop()
	start(t, keyed).stop()
	start(t, t.TempDir(), "--master-key-file", own).stop()
	must(t, "user", "create", "--username", "ada", "--password", "correct horse battery", "--data", t.TempDir())
}

func TestStoreThatIsGoneForGoodIsForgotten(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	wantFailure(t, 1, "a server has the data folder", "storage", "forget", "--data", data)
	s.stop()
	wantFailure(t, 1, "nothing is to be forgotten", "storage", "forget", "--data", data)
	wantFailure(t, 1, "nothing is to be forgotten", "storage", "forget", "--data", t.TempDir())
	before := filesOf(t, data)
	fatal(t, os.Remove(filepath.Join(data, "keystile.db")))
	v := must(t, "storage", "forget", "--data", data)
	into := v["into"].(string)
	for _, name := range []string{"first-run.json", "store.json", "usage/lock"} {
		kept, err := os.ReadFile(filepath.Join(into, name))
		if err != nil || !bytes.Equal(kept, before[name]) {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
	if after := filesOf(t, data); !bytes.Equal(after["master.key"], before["master.key"]) {
		t.Error("the master key is another one")
	}
	s = start(t, data)
	if !strings.Contains(s.out.String(), "This was the first run") {
		t.Errorf("it says: %s", s.out)
	}
}

// Two services with one master key, and somebody takes the folder of the one for that of the other.
func TestDatabaseOfAnotherServiceIsRefused(t *testing.T) {
	t.Parallel()
	env, one, two := aKey(), t.TempDir(), t.TempDir()
	startWith(t, one, env, listening).stop()
	startWith(t, two, env, listening).stop()
	copyFile(t, filepath.Join(two, "keystile.db"), filepath.Join(one, "keystile.db"))
	says := []string{"keystile.db is ", "has belonged to ", "storage forget --data " + one}
	refused(t, one, env, says, "serve", "--data", one, "--listen", "127.0.0.1:0")
	refused(t, one, env, says, "user", "create", "--username", "ada", "--password", "correct horse battery", "--data", one)
	var out, errs bytes.Buffer
	forget := []string{"storage", "forget", "--data", one}
	if code := (program{storage: everything()}).run(t.Context(), forget, nil, &out, &errs, env); code != 0 {
		t.Fatalf("storage forget = %d %s%s", code, &out, &errs)
	}
	s := startWith(t, one, env, listening)
	if strings.Contains(s.out.String(), "This was the first run") {
		t.Errorf("it has not taken what is there: %s", s.out)
	}
}

// A backup that somebody restores is the right one, of whichever service it is.
func TestFolderBelongsToWhatIsRestored(t *testing.T) {
	t.Parallel()
	env, one, two := aKey(), t.TempDir(), t.TempDir()
	startWith(t, one, env, listening).stop()
	startWith(t, two, env, listening).stop()
	p, file := program{storage: everything()}, filepath.Join(t.TempDir(), "b.db")
	for _, args := range [][]string{{"backup", file, "--data", two}, {"restore", file, "--data", one}} {
		var errs bytes.Buffer
		if code := p.run(t.Context(), args, nil, new(bytes.Buffer), &errs, env); code != 0 {
			t.Fatalf("keystile %q = %d %s", args, code, &errs)
		}
	}
	startWith(t, one, env, listening).stop()
	if a, b := filesOf(t, one), filesOf(t, two); !bytes.Equal(a["store.json"][:30], b["store.json"][:30]) {
		t.Errorf("it belongs to %s, not to %s", a["store.json"], b["store.json"])
	}
}

// The folders and databases of versions before say nothing of each other.
func TestStoreOfAVersionBeforeGetsAName(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	withoutName(t, filepath.Join(data, "keystile.db"))
	fatal(t, os.Remove(filepath.Join(data, "store.json")))
	start(t, data).stop()
	named := filesOf(t, data)["store.json"]
	if len(named) == 0 {
		t.Fatal("the folder belongs to no store")
	}
	withoutName(t, filepath.Join(data, "keystile.db")) // as from a backup of that version
	start(t, data).stop()
	if again := filesOf(t, data)["store.json"]; !bytes.Equal(again, named) {
		t.Errorf("it belonged to %s, and now to %s", named, again)
	}
}

// withoutName takes away what a store is known by.
func withoutName(t *testing.T, path string) {
	t.Helper()
	b, err := bolt.Open(path, bolt.Options{})
	fatal(t, err)
	d, err := b.Get(t.Context(), "setting", "store.id")
	fatal(t, err)
	_, err = b.Put(t.Context(), driver.Doc{Kind: d.Kind, ID: d.ID, Version: d.Version, Deleted: true})
	fatal(t, errors.Join(err, b.Close()))
}

func TestNodeWhoseDatabaseIsGoneOrAnotherIsRefused(t *testing.T) {
	t.Parallel()
	address, other, env, data := database.WithSchema(t), database.WithSchema(t), aKey(), t.TempDir()
	startWith(t, data, env, listening, "--storage-url", address, "--drain", "0").stop()
	startWith(t, t.TempDir(), env, listening, "--storage-url", other, "--drain", "0").stop()
	serve := func(url string) []string {
		return []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--storage-url", url}
	}
	refused(t, data, env, []string{" is ", "has belonged to ", "--storage-url"}, serve(other)...)
	empty := database.WithSchema(t)
	says := []string{"nothing is in the database ", "first-run.json", "bring its dump back", "storage forget"}
	create := []string{"user", "create", "--username", "ada", "--password", "correct horse battery", "--data", data}
	for _, args := range [][]string{serve(empty), append(create, "--storage-url", empty)} {
		refused(t, data, env, says, args...)
	}
	c := database.Connect(t)
	defer c.Close(context.Background())
	var tables int
	const count = "SELECT count(*) FROM pg_tables WHERE schemaname = $1"
	fatal(t, c.QueryRow(t.Context(), count, schemaOf(t, empty)).Scan(&tables))
	if tables != 0 {
		t.Errorf("%d tables are in the way of a dump", tables)
	}
	database.Exec(t, "DELETE FROM "+schemaOf(t, address)+".doc") // the tables are there, and nothing is in them
	refused(t, data, env, []string{"nothing is in the database "}, serve(address)...)
}

func schemaOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	fatal(t, err)
	return u.Query().Get("schema")
}

// Somebody forgets to copy the store before the service moves.
func TestServiceDoesNotMoveToAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	data, url := t.TempDir(), database.WithSchema(t)
	start(t, data).stop()
	refused(t, data, nil, []string{"nothing is in the database ", "storage copy --from bolt:" + data},
		"serve", "--data", data, "--listen", "127.0.0.1:0", "--storage-url", url)
	must(t, "storage", "copy", "--from", "bolt:"+data, "--to", url)
	start(t, data, "--storage-url", url, "--drain", "0").stop()
}

func TestCommandThatReadsMakesNoMasterKey(t *testing.T) {
	t.Parallel()
	data, url := t.TempDir(), database.WithSchema(t)
	refused(t, data, nil, []string{"the master key is missing"}, "audit", "verify", "--data", data, "--storage-url", url)
	if _, err := os.Stat(filepath.Join(data, "master.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is one: %v", err)
	}
}
