package powercut

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traceOf writes a trace of calls on the disk /d: texts between quotes and brackets are made
// hexadecimal, as strace does.
func traceOf(t *testing.T, calls ...string) []*call {
	t.Helper()
	var text strings.Builder
	for i, c := range calls {
		var out strings.Builder
		for j, part := range strings.FieldsFunc(c, func(r rune) bool { return strings.ContainsRune(`"<>`, r) }) {
			if j%2 == 0 {
				out.WriteString(part)
			} else {
				out.WriteString(`"` + hexed(part) + `"`)
			}
		}
		fmt.Fprintf(&text, "7 100.%09d %s\n", i, out.String())
	}
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := readTraces([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func played(t *testing.T, calls ...string) *disk {
	t.Helper()
	d := newDisk("/d")
	for _, c := range traceOf(t, calls...) {
		if err := d.play(c); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// left are the contents that a file has in many images, "-" being that it is not there.
func left(t *testing.T, d *disk, at int, name string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for n := range 200 {
		r := rand.New(rand.NewPCG(7, uint64(n)))
		to := filepath.Join(t.TempDir(), "image")
		if err := (cut{at: at, fate: fate(r.IntN(int(fates) + 1)), rand: r, append: "/d/log"}).make(d, to); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(to, name))
		if err != nil {
			text = []byte("-")
		}
		found[string(bytes.TrimRight(text, "\x00"))] = true
	}
	return found
}

func only(found map[string]bool, want ...string) bool {
	for _, w := range want {
		if !found[w] {
			return false
		}
	}
	return len(found) == len(want)
}

var twoNames = []string{
	`openat(AT_FDCWD, "/d/a", O_RDWR|O_CREAT, 0600) = 5`,
	`pwrite64("/d/a", "old", 3, 0) = 3`,
	`fdatasync("/d/a") = 0`,
	`fsync("/d") = 0`,
	`openat(AT_FDCWD, "/d/b", O_RDWR|O_CREAT, 0600) = 6`,
	`write("/d/b", "new", 3) = 3`,
	`fsync("/d/b") = 0`,
	`renameat(AT_FDCWD, "/d/b", AT_FDCWD, "/d/a") = 0`,
	`fsync("/d") = 0`,
}

func TestRenameIsCertainOnlyWhenItsFolderIsSynced(t *testing.T) {
	d := played(t, twoNames...)
	for at, want := range map[int][]string{2: {"-", "old", ""}, 4: {"old"}, 7: {"old"}, 8: {"old", "new"}, 9: {"new"}} {
		if found := left(t, d, at, "a"); !only(found, want...) {
			t.Errorf("at %d it is one of %v, want %q", at, found, want)
		}
	}
}

func TestNameWithoutASyncedFileIsEmpty(t *testing.T) {
	calls := append(twoNames[:6:6], twoNames[7:]...) // the new file is not synced
	if found := left(t, played(t, calls...), 8, "a"); !found[""] || !found["new"] || found["old"] {
		t.Errorf("it is one of %v, want the new file, or an empty one", found)
	}
}

// A journal has room before it has records; what was stored into it is told with pwrite64.
func TestMappedFileHasRoomThatMayBeThereBeforeWhatIsInIt(t *testing.T) {
	d := played(t, twoNames[0], `fsync("/d") = 0`, `fallocate("/d/a", 0, 0, 9) = 0`,
		`mmap(NULL, 9, PROT_READ|PROT_WRITE, MAP_SHARED, "/d/a", 0) = 0x7f`, `pwrite64("/d/a", "x", 1, 0) = 1`,
		`fsync("/d/a") = 0`, `pwrite64("/d/a", "y", 1, 1) = 1`, `ftruncate("/d/a", 2) = 0`)
	if found := left(t, d, 8, "a"); !only(found, "x", "xy") {
		t.Errorf("it is one of %v, want what was synced, with the rest and without", found)
	}
	path := filepath.Join(t.TempDir(), "image")
	if err := (cut{at: 6, fate: nothing, rand: rand.New(rand.NewPCG(1, 1))}).make(d, path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(path, "a")); err != nil || len(text) != 9 {
		t.Errorf("it has %q, %v; want 9 bytes", text, err)
	}
	if f := d.nodes["/d/a"].(*file); !f.mapped || !bytes.Equal(whole(f.ops), []byte("xy")) {
		t.Errorf("it is %q, mapped %t", whole(f.ops), f.mapped)
	}
	if err := d.holds(leftover{path: "/d/a", data: []byte("xz")}); err == nil {
		t.Error("other contents are taken for those that were told")
	}
}

func TestSyncHoldsOnlyWhatHadEndedBeforeIt(t *testing.T) {
	calls := traceOf(t, twoNames[0], `fsync("/d") = 0`, `pwrite64("/d/a", "x", 1, 0) = 1`, `fdatasync("/d/a") = 0`)
	calls[2].end = 4 // it returns behind the sync
	d := newDisk("/d")
	for _, c := range calls {
		if err := d.play(c); err != nil {
			t.Fatal(err)
		}
	}
	if found := left(t, d, 9, "a"); !only(found, "", "x") {
		t.Errorf("it is one of %v, want both", found)
	}
}

func TestTornWriteHasWholeSectors(t *testing.T) {
	d := played(t, twoNames[0], `fsync("/d") = 0`, `pwrite64("/d/a", "`+strings.Repeat("x", 2000)+`", 2000, 100) = 2000`)
	for n := range 50 {
		r := rand.New(rand.NewPCG(8, uint64(n)))
		to := filepath.Join(t.TempDir(), "image")
		if err := (cut{at: 3, fate: torn, rand: r}).make(d, to); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(filepath.Join(to, "a"))
		for at := 0; at < len(data); at += sector {
			part := data[max(at, 100):min(at+sector, len(data))]
			if len(bytes.Trim(part, "x")) > 0 && len(bytes.Trim(part, "\x00")) > 0 {
				t.Fatalf("the sector at %d is torn", at)
			}
		}
	}
}

func TestCallThatIsNotUnderstoodIsAnError(t *testing.T) {
	for _, call := range []string{
		`mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, "/d/never made", 0) = 0x7f`,
		`fallocate("/d/a", FALLOC_FL_PUNCH_HOLE, 0, 5) = 0`,
		`copy_file_range("/d/a", NULL, "/d/a", NULL, 5, 0) = 5`,
		`pwritev("/d/a", 1, 1, 0) = 5`,
		`pwrite64("/d/never made", "x", 1, 0) = 1`,
		`renameat(AT_FDCWD, "/elsewhere", AT_FDCWD, "/d/a") = 0`,
	} {
		d := played(t, twoNames[0])
		if err := d.play(traceOf(t, call)[0]); err == nil {
			t.Errorf("%s is played", call)
		}
	}
}
