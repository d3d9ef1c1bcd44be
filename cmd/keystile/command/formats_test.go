package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// fromLater makes a database one that a newer version has written.
func fromLater(t *testing.T, path string) {
	t.Helper()
	b, err := bolt.Open(path, bolt.Options{})
	fatal(t, err)
	d, err := b.Get(t.Context(), "format", "features")
	if err != nil {
		d = driver.Doc{Kind: "format", ID: "features"}
	}
	d.Data = []byte(`{"features":[{"name":"time travel","since":"v9.7.0"}]}`)
	_, err = b.Put(t.Context(), d)
	fatal(t, err)
	fatal(t, b.Close())
}

func TestDatabaseOfANewerVersionIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	file := filepath.Join(t.TempDir(), "b.db")
	must(t, "backup", file, "--data", data)
	fatal(t, os.Remove(file+".manifest.json"))
	fromLater(t, file)
	before := filesOf(t, data)
	says := `it has the feature "time travel", which this version does not know and Keystile v9.7.0 does`
	wantFailure(t, 1, file+": storage: the store was written by a newer version of Keystile: "+says, "restore", file,
		"--data", data)
	if after := filesOf(t, data); len(after) != len(before) || !bytes.Equal(after["keystile.db"], before["keystile.db"]) {
		t.Error("a restore that is refused has changed something")
	}
	fromLater(t, filepath.Join(data, "keystile.db"))
	wantFailure(t, 1, says, "serve", "--data", data, "--listen", "127.0.0.1:0")
	wantFailure(t, 1, says, "app", "list", "--data", data)
}

func TestDatabaseIsCompactedWhileNobodyServes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	wantFailure(t, 1, "stop the server", "storage", "compact", "--data", data)
	g := redeem(t, s, authorize(t, s), 200)
	base := s.base
	s.stop()
	v := must(t, "storage", "compact", "--data", data)
	info, err := os.Stat(filepath.Join(data, "keystile.db"))
	fatal(t, err)
	if v["bytes"] != float64(info.Size()) || v["bytes_before"].(float64) < v["bytes"].(float64) ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("it prints %v of a file of %d bytes, %v", v, info.Size(), info.Mode())
	}
	s = start(t, data, "--base-url", base)
	refresh(t, s, g.RefreshToken, 200)
	if trail := must(t, "audit", "verify", "--data", data); trail["whole"] != true {
		t.Errorf("the trail is %v", trail)
	}
	wantFailure(t, 1, "no database in the data folder", "storage", "compact", "--data", t.TempDir())
}

func TestCompactionOnAFullDiskChangesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	before := filesOf(t, data)
	c := spawn(t, []string{"BE_FULL=at once"}, "storage", "compact", "--data", data)
	wantExit(t, c, data+"/keystile.db was left as it is", "file too large")
	after := filesOf(t, data)
	if len(after) != len(before) || !bytes.Equal(after["keystile.db"], before["keystile.db"]) {
		t.Error("something has changed all the same")
	}
	start(t, data).stop()
}

func TestVersionNamesTheFeaturesItKnows(t *testing.T) {
	t.Parallel()
	code, out, errs := command(t, "", "version", "--json")
	for _, f := range storage.KnownFeatures() {
		if code != 0 || !strings.Contains(out, f.Name) {
			t.Errorf("version --json prints %s%s, want %q in it", out, errs, f.Name)
		}
	}
}
