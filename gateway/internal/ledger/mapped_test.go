package ledger

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// mapOn has the files of a disk be mapped; nil: this system cannot.
var mapOn func(*journal, *disk)

// mappable is a folder whose files can be mapped, if there is one.
func mappable(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	if shares(folder) == nil {
		return folder
	}
	other, err := os.MkdirTemp("/dev/shm", "keystile-")
	if err != nil {
		return folder
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	return other
}

// records are calls that have each an hour of their own, and records of many lengths.
func records(n int) (data []byte, starts []int) {
	for i := range n {
		starts = append(starts, len(data))
		data = appendRecord(data, &entry{"app", cell{product: "p" + strings.Repeat("x", i%61), hour: uint32(i + 1)},
			amount{calls: 1}, 0})
	}
	return data, append(starts, len(data))
}

// mapped is a mapped file with so much in it.
func mapped(data []byte) []byte {
	return append(bytes.Clone(data), make([]byte, roomStep-len(data)%roomStep)...)
}

func TestRoomBehindAMappedJournalIsNoDamage(t *testing.T) {
	for _, n := range []int{0, 1, 5} {
		data, _ := records(n)
		out := &lines{}
		folder := left(t, mapped(data))
		if got := counted(t, folder, out); len(got) != n || out.times("level=") != 0 || len(files(t, folder, "")) != 1 {
			t.Errorf("of %d calls %d are counted, the log says %q, and %v are left, want all, nothing, and the lock", n,
				len(got), out.text.String(), files(t, folder, ""))
		}
	}
}

// A kill may come when any bytes of a record are stored, but for the first, which comes last.
func TestKillAmidAStoreTakesThatRecordAlone(t *testing.T) {
	data, starts := records(4)
	last := starts[3]
	for cut := last + 1; cut < len(data); cut++ {
		for name, spoil := range map[string]func([]byte){
			"the first": func(r []byte) { clear(r[cut:]); r[last] = 0 },
			"the last":  func(r []byte) { clear(r[last:cut]) },
			"some":      func(r []byte) { clear(r[cut : cut+1]); r[last] = 0 },
		} {
			broken := bytes.Clone(data)
			spoil(broken)
			out := &lines{}
			folder := left(t, mapped(broken))
			got := counted(t, folder, out)
			if len(got) != 3 || out.times("level=ERROR") != 0 || len(files(t, folder, ofDamaged)) != 0 {
				t.Errorf("%s bytes, at %d: %d calls are counted, and the log says %q, want 3 and no damage", name, cut, len(got),
					out.text.String())
			}
		}
	}
}

// A power cut loses pages in any order, and hides no record that arrived.
func TestPageThatDidNotArriveHidesNoOther(t *testing.T) {
	data, starts := records(400)
	file := mapped(data)
	clear(file[4096:8192])
	want := 0
	for i, start := range starts[:400] {
		if starts[i+1] <= 4096 || start >= 8192 {
			want++
		}
	}
	seen := 0
	lost, err := replay(file, func(entry) { seen++ })
	if err != nil || seen != want || lost.damaged == 0 || lost.damaged > 4096+2*recordSize {
		t.Errorf("replay() = %+v, %v and %d records, want %d and one hole", lost, err, seen, want)
	}
}

func FuzzMappedJournal(f *testing.F) {
	f.Add(uint8(0), uint16(0), []byte{})
	f.Add(uint8(40), uint16(9), []byte{})
	f.Add(uint8(200), uint16(300), []byte{2, 0xF0, 1})
	f.Fuzz(func(t *testing.T, n uint8, torn uint16, lost []byte) {
		data, starts := records(int(n) + 1)
		file := mapped(data)
		last := starts[n]
		file[last] = 0 // a kill came before the last is committed
		for i := last + 1; i < len(data); i++ {
			if torn>>(i%16)&1 == 1 {
				file[i] = 0
			}
		}
		for i := range min(len(lost)*8, len(data)/512+1) { // a power cut, of some sectors
			if lost[i/8]>>(i%8)&1 == 1 {
				clear(file[i*512 : (i+1)*512])
			}
		}
		want := map[uint32]bool{}
		for i := range int(n) {
			if bytes.Equal(file[starts[i]:starts[i+1]], data[starts[i]:starts[i+1]]) {
				want[uint32(i+1)] = true
			}
		}
		before := uint32(0)
		missing, err := replay(file, func(e entry) {
			if !want[e.hour] || e.hour <= before {
				t.Errorf("call %d is counted behind %d, and is there: %t", e.hour, before, want[e.hour])
			}
			before = e.hour
			delete(want, e.hour)
		})
		if err != nil || len(want) > 0 {
			t.Errorf("replay() = %v, %v, and does not count %v", missing, err, want)
		}
		if len(bytes.Trim(lost, "\x00")) == 0 && (missing.damaged > 0 || missing.torn > recordSize) {
			t.Errorf("replay(a kill amid a store) = %+v, want no damage", missing)
		}
	})
}
