package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// damaged are 75 copies of a file, each with damage of one kind at a place of its own.
func damaged(good []byte) map[string][]byte {
	random, size, all := rand.New(rand.NewPCG(66, 75)), os.Getpagesize(), map[string][]byte{}
	pages := len(good) / size
	for i := range 25 {
		flipped, garbage, exchanged := bytes.Clone(good), bytes.Clone(good), bytes.Clone(good)
		flipped[random.IntN(len(good))] ^= byte(1 + random.IntN(255))
		page := random.IntN(pages) * size
		for at := page; at < page+size; at++ {
			garbage[at] = byte(random.Uint32())
		}
		a := random.IntN(pages)
		b := (a + 1 + random.IntN(pages-1)) % pages
		copy(exchanged[a*size:(a+1)*size], good[b*size:])
		copy(exchanged[b*size:(b+1)*size], good[a*size:])
		all[fmt.Sprint("one byte ", i)], all[fmt.Sprint("a page of garbage ", i)],
			all[fmt.Sprint("two pages exchanged ", i)] = flipped, garbage, exchanged
	}
	return all
}

// backedUp is a folder with some history, and a backup of it.
func backedUp(t *testing.T) (data, file string) {
	t.Helper()
	data, file = t.TempDir(), filepath.Join(t.TempDir(), "b.db")
	s := start(t, data)
	refresh(t, s, redeem(t, s, authorize(t, s), 200).RefreshToken, 200)
	for i := range 10 {
		must(t, "app", "create", "--data", data, "--name", fmt.Sprint("App ", i), "--domain", "a.example")
	}
	s.stop()
	must(t, "backup", file, "--data", data)
	return data, file
}

func TestDamagedBackupIsRefusedAndChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("damages many copies")
	}
	t.Parallel()
	data, file := backedUp(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, data)
	for name, bad := range damaged(good) {
		copied := filepath.Join(t.TempDir(), "b.db")
		os.WriteFile(copied, bad, 0o600)
		copyFile(t, file+".manifest.json", copied+".manifest.json")
		code, out, errs := command(t, "", "restore", copied, "--data", data)
		if harmed := !bytes.Equal(good, bad); harmed != (code == 1) || harmed &&
			(!strings.Contains(errs, copied+" is not the file that was made") || out != "") {
			t.Errorf("%s: it exits %d, %s%s", name, code, out, errs)
		}
	}
	after := filesOf(t, data)
	if len(after) != len(before) || !bytes.Equal(after["keystile.db"], before["keystile.db"]) {
		t.Error("something has changed all the same")
	}
}

// Without its manifest nothing but a changed text may pass: pages, rows and the trail are whole.
func TestBackupWithoutItsManifestIsReadFromEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("damages many copies")
	}
	t.Parallel()
	data, file := backedUp(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]int{}
	for name, bad := range damaged(good) {
		other, copied := withKeyOf(t, data), filepath.Join(t.TempDir(), "b.db")
		os.WriteFile(copied, bad, 0o600)
		code, out, errs := command(t, "", "restore", copied, "--data", other)
		if code != 0 {
			if left := filesOf(t, other); code != 1 || out != "" || len(left) != 1 || !strings.Contains(errs, copied) {
				t.Errorf("%s: it exits %d, %s%s, and leaves %d files", name, code, out, errs, len(left))
			}
			refused[strings.TrimRight(name, " 0123456789")]++
			continue
		}
		if !strings.Contains(out, "not checked: there is no "+copied+".manifest.json") {
			t.Errorf("%s: it does not say that no checksum was there: %s", name, out)
		}
		wantWhole(t, name, other)
		if strings.HasPrefix(name, "two") && !sameContents(t, file, filepath.Join(other, "keystile.db")) {
			t.Errorf("%s: it is accepted, and has other contents", name)
		}
	}
	if refused["two pages exchanged"] < 10 || refused["a page of garbage"] < 10 { // the others are free pages
		t.Errorf("refused of 25 each: %v", refused)
	}
}

// wantWhole looks at a database as audit verify and the store's own check do.
func wantWhole(t *testing.T, name, data string) {
	t.Helper()
	if v := must(t, "audit", "verify", "--data", data); v["whole"] != true {
		t.Errorf("%s: it is accepted, and its trail is broken: %v", name, v)
	}
	if _, err := bolt.Check(filepath.Join(data, "keystile.db")); err != nil {
		t.Errorf("%s: it is accepted, and damaged: %v", name, err)
	}
}

func sameContents(t *testing.T, a, b string) bool {
	t.Helper()
	first, err := bolt.Check(a)
	fatal(t, err)
	second, err := bolt.Check(b)
	fatal(t, err)
	return fmt.Sprint(first) == fmt.Sprint(second)
}

func TestBackupWithABrokenTrailIsRefused(t *testing.T) {
	t.Parallel()
	data, file := backedUp(t)
	s, err := bolt.Open(file, bolt.Options{})
	fatal(t, err)
	records, err := s.Records(t.Context(), 0, 1)
	fatal(t, err)
	fatal(t, s.Append(t.Context(), driver.Record{At: records[0].At,
		Data: bytes.Replace(records[0].Data, []byte("a"), []byte("b"), 1)}))
	fatal(t, s.Close())
	fatal(t, os.Remove(file+".manifest.json"))
	before := filesOf(t, data)
	wantFailure(t, 1, "audit: the trail is broken in 1 places", "restore", file, "--data", data)
	if after := filesOf(t, data); len(after) != len(before) || !bytes.Equal(after["keystile.db"], before["keystile.db"]) {
		t.Error("something has changed all the same")
	}
}

func TestBackupHasItsChecksumAndAListBesideIt(t *testing.T) {
	t.Parallel()
	data, file := backedUp(t)
	var m struct {
		File, SHA256 string
		Bytes        int64
		Contents     map[string]int
	}
	text, err := os.ReadFile(file + ".manifest.json")
	fatal(t, err)
	fatal(t, json.Unmarshal(text, &m))
	info, err := os.Stat(file)
	fatal(t, err)
	if m.File != "b.db" || m.Bytes != info.Size() || len(m.SHA256) != 64 || m.Contents["app"] < 10 ||
		m.Contents["audit records"] < 10 || m.Contents["user"] < 1 {
		t.Errorf("beside it stands %s", text)
	}
	if mode, err := os.Stat(file + ".manifest.json"); err != nil || mode.Mode().Perm() != 0o600 {
		t.Errorf("it has mode %v, %v", mode.Mode(), err)
	}
	if r := must(t, "restore", file, "--data", data); !strings.HasPrefix(r["checksum"].(string), "matches ") {
		t.Errorf("restore prints %v", r)
	}
	must(t, "app", "create", "--data", data, "--name", "Later", "--domain", "a.example")
	must(t, "backup", file, "--force", "--data", data) // the list is the new copy's
	must(t, "restore", file, "--data", data)
	for _, bad := range []string{"{", "{}", `{"sha256":"00"}`} {
		fatal(t, os.WriteFile(file+".manifest.json", []byte(bad), 0o600))
		wantFailure(t, 1, file+".manifest.json cannot be read", "restore", file, "--data", data)
	}
}
