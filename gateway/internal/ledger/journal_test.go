package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// small is a journal of four records, each of a product of its own, and where each begins.
func small() (data []byte, starts []int) {
	for i, product := range []string{"ai", "mcp", "payment", "storage"} {
		starts = append(starts, len(data))
		data = appendRecord(data, &entry{"app", cell{product: product, hour: 1 << i}, amount{calls: 1, errors: int64(i % 2)},
			0})
	}
	return data, append(starts, len(data))
}

// left puts a journal file into a new folder, as a killed process would.
func left(t testing.TB, data []byte) (folder string) {
	t.Helper()
	folder = t.TempDir()
	name := fileName(driver.Batch{Node: "NODE", Seq: 7})
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// counted returns the calls of a journal by product, once a Ledger has sent it.
func counted(t *testing.T, folder string, out *lines) map[string]driver.Count {
	t.Helper()
	s := newStore()
	closed(t, opened(t, Config{Store: s, Path: folder, Log: out.log()}))
	rows, err := s.Usage(t.Context(), always("app"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]driver.Count{}
	for _, row := range rows {
		sums[row.Product] = row.Plus(sums[row.Product])
	}
	return sums
}

func TestJournalCutAnywhereCountsItsWholeRecords(t *testing.T) {
	data, starts := small()
	for cut := range len(data) + 1 {
		whole, torn := 0, true
		for i, start := range starts {
			if start <= cut {
				whole, torn = i, start != cut
			}
		}
		out := &lines{}
		folder := left(t, data[:cut])
		if got := counted(t, folder, out); len(got) != whole {
			t.Errorf("cut at %d: %d calls are counted, want %d", cut, len(got), whole)
		}
		if out.times("ends amid a record") != btoi(torn) || out.times("damaged") != 0 {
			t.Errorf("cut at %d: the log says %q, want a torn end %t and no damage", cut, out.text.String(), torn)
		}
		if rest := files(t, folder, ""); len(rest) != 1 {
			t.Errorf("cut at %d: %v are left, want the lock", cut, rest)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestDamagedByteCostsOneRecordAndIsNeverCounted(t *testing.T) {
	data, starts := small()
	want := counted(t, left(t, data), &lines{})
	for at := range data {
		for _, flip := range []byte{0x01, 0x80, 0xFF} {
			broken := bytes.Clone(data)
			broken[at] ^= flip
			out := &lines{}
			folder := left(t, broken)
			got := counted(t, folder, out)
			if len(got) != len(want)-1 {
				t.Errorf("byte %d ^ %#x: %d records are counted, want all but one of %d", at, flip, len(got), len(want))
			}
			for product, c := range got {
				if c != want[product] {
					t.Errorf("byte %d ^ %#x: %v is counted, want %v", at, flip, c, want[product])
				}
			}
			// A last record that seems to be longer than the file is a torn end, by all looks.
			last := broken[starts[len(starts)-2]:]
			length := int(binary.BigEndian.Uint16(last[2:]))
			torn := length > len(last)-headSize && length <= maxBody
			if kept := len(files(t, folder, ofDamaged)); kept != btoi(!torn) || out.times("level=ERROR") != kept ||
				out.times("level=WARN") != btoi(torn) {
				t.Errorf("byte %d ^ %#x: %d files are kept and the log says %q, want a torn end %t", at, flip, kept,
					out.text.String(), torn)
			}
		}
	}
}

func TestZerosAfterAPowerCutAreATornEnd(t *testing.T) {
	data, _ := small()
	out := &lines{}
	folder := left(t, append(data, make([]byte, 4096)...))
	if got := counted(t, folder, out); len(got) != 4 || out.times("level=WARN") != 1 ||
		len(files(t, folder, ofDamaged)) != 0 {
		t.Errorf("%d calls are counted, and the log says %q, want 4 and a torn end", len(got), out.text.String())
	}
}

func TestDamagedJournalIsKeptOnlyWhenItIsCounted(t *testing.T) {
	data, _ := small()
	data[9] ^= 1
	folder, s := left(t, data), newStore()
	s.setFaults(errAway, nil)
	l := opened(t, Config{Store: s, Path: folder})
	if err := l.Close(t.Context()); err == nil || len(files(t, folder, ofRecords)) != 1 {
		t.Errorf("Close(store away) = %v with files %v, want an error and the journal as it was", err, files(t, folder, ""))
	}
	if got := counted(t, folder, &lines{}); len(got) != 3 || len(files(t, folder, ofRecords)) != 0 ||
		len(files(t, folder, ofDamaged)) != 1 {
		t.Errorf("%d calls are counted, files %v, want 3 and the damaged one kept", len(got), files(t, folder, ""))
	}
	if got := counted(t, folder, &lines{}); len(got) != 0 {
		t.Errorf("%d calls are counted of the file that is kept, want none", len(got))
	}
}

func TestNameCannotHoldARecord(t *testing.T) {
	forged := appendRecord(nil, &entry{"app", cell{product: "ai", hour: 1}, amount{calls: 1000}, 0})
	l := opened(t, Config{Store: newStore(), Path: t.TempDir()})
	if err := l.Charge("app", string(forged), noon, false); err == nil {
		t.Error("Charge(a product that is a record) = no error, want one")
	}
	host := appendRecord(nil, &entry{"app", cell{product: string(forged), hour: 1}, amount{calls: 1}, 0})
	if _, _, err := decode(host); err == nil {
		t.Error("decode(a record with such a name) = no error, want one")
	}
}

func TestJournalOfANewerVersionIsLeftAlone(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		data, starts := small()
		newer := data[starts[3]:]
		newer[1] = kindActed + 1
		binary.BigEndian.PutUint32(newer[4:], checksum(newer))
		if damaged {
			data[starts[3]-1] ^= 1 // of the record before
		}
		folder := left(t, data)
		l, err := Open(t.Context(), Config{Store: newStore(), Path: folder})
		if l != nil || err == nil || !strings.Contains(err.Error(), "newer version") {
			t.Fatalf("Open() = %v, %v, want an error that says so", l, err)
		}
		if kept, _ := os.ReadFile(files(t, folder, ofRecords)[0]); !bytes.Equal(kept, data) {
			t.Error("the journal has changed")
		}
		if _, err := openJournal(folder); err != nil {
			t.Errorf("openJournal(after a refusal) = %v, want the lock to be free", err)
		}
	}
}

func TestChecksumIsCRC32C(t *testing.T) {
	data, starts := small()
	for i := range 4 {
		record := data[starts[i]:starts[i+1]]
		if want := crc32.Checksum(slices.Concat(record[1:4], record[headSize:]),
			crc32.MakeTable(crc32.Castagnoli)); checksum(record) != want {
			t.Errorf("checksum(%q) = %#x, want %#x", record, checksum(record), want)
		}
	}
}

func FuzzReplay(f *testing.F) {
	data, starts := small()
	f.Add(data, "app", "ai")
	f.Add(data[:starts[2]+9], "a", "b")
	f.Add(append([]byte{mark, kindCalls, 0xFF}, data...), "app", "ai")
	f.Fuzz(func(t *testing.T, noise []byte, app, product string) {
		e := entry{app, cell{product: product, hour: math.MaxUint32}, amount{calls: 3, errors: 2},
			span(len(noise) % (Ranges + 1))}
		if !named(app) || !named(product) {
			return
		}
		record := appendRecord(nil, &e)
		var found []entry
		lost, err := replay(record, func(e entry) { found = append(found, e) })
		if err != nil || lost != (damage{}) || len(found) != 1 || found[0] != e {
			t.Fatalf("replay(a record) = %v, %v, %v, want %v", found, lost, err, e)
		}
		last := entry{}
		size := 0
		lost, err = replay(append(bytes.Clone(noise), record...), func(e entry) {
			last = e
			size += len(appendRecord(nil, &e))
		})
		if err == nil && last != e {
			t.Errorf("replay(noise, a record) ends with %v, want %v", last, e)
		}
		if err == nil && lost.torn+lost.damaged > len(noise) {
			t.Errorf("replay() lost %v of %d bytes of noise and %d of records", lost, len(noise), size)
		}
	})
}
