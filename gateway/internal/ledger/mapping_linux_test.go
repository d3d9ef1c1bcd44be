package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// mappingOf is the open segment's.
func mappingOf(t testing.TB, l *Ledger) *mapping {
	t.Helper()
	m, ok := l.open.segment.file.(*mapping)
	if !ok {
		t.Fatalf("the journal is a %T, want a mapping", l.open.segment.file)
	}
	return m
}

func TestChargeIsInTheFileWithoutASystemCall(t *testing.T) {
	l := opened(t, Config{Store: newStore(), Path: mappable(t), FlushEvery: time.Hour})
	charge(t, l, "app", 1)
	mappingOf(t, l).file.Close() // so no call to it can succeed
	var want []byte
	for i := range 500 {
		app := strings.Repeat("a", 1+i%200)
		charge(t, l, app, 1)
		want = appendRecord(want, &entry{app, cell{product: "ai", hour: uint32(noon.Unix() / 3600)}, amount{calls: 1}, 0})
	}
	data, err := os.ReadFile(l.open.segment.path)
	if err != nil || l.Health() != nil {
		t.Fatal(err, l.Health())
	}
	first := len(appendRecord(nil, &entry{"app", cell{product: "ai"}, amount{calls: 1}, 0}))
	if !bytes.Equal(data, mapped(append(data[:first:first], want...))) {
		t.Error("the file is not the records, one behind the other, and zeros")
	}
	if n := testing.AllocsPerRun(1000,
		func() { l.ChargeDetailed("app", "ai", Detail{Took: time.Second}, noon, false) }); n != 0 {
		t.Errorf("a charge of a known row makes %v allocations, want none", n)
	}
}

// Each of these breaks a mapping amid its work. All calls are counted by the next start, and nobody
// is refused meanwhile.
func TestMappingThatBreaksLosesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*testing.T, *mapping)
		whole  bool // the file still has all, so that a kill right behind it takes nothing
		faults bool
	}{
		"a page cannot be brought": {func(t *testing.T, m *mapping) { m.data = withoutPages(t) }, true, true},
		"no room": {func(_ *testing.T, m *mapping) {
			m.allocate = func(*os.File, int64, int64) error { return syscall.ENOSPC }
			m.room = m.at + 1 // it ends amid the next record
		}, true, false},
		"the file is emptied":   {func(t *testing.T, m *mapping) { truncate(t, m, 0) }, false, true},
		"the file is cut short": {func(t *testing.T, m *mapping) { truncate(t, m, 40) }, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			folder, s, out := mappable(t), newStore(), &lines{}
			s.setFaults(errAway, nil)
			l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour, Log: out.log()})
			charge(t, l, "app", 10)
			c.breaks(t, mappingOf(t, l))
			charge(t, l, "app", 10)
			if !c.whole {
				time.Sleep(3 * time.Second)
				synctest.Wait()
			}
			if err := l.Health(); err != nil {
				t.Errorf("%s: Health() = %v, want nil: all is written, or is again", name, err)
			}
			charge(t, l, "app", 10)
			if n := out.times("cannot be kept in shared memory"); n != btoi(c.faults) || l.Mapped() == c.faults {
				t.Errorf("%s: %d lines say that it is written from now on, and Mapped() = %t", name, n, l.Mapped())
			}
			l.drop()
			s.setFaults(nil, nil)
			closed(t, opened(t, Config{Store: s, Path: folder}))
			wantStored(t, s, "app", 30)
		})
	}
}

// withoutPages is memory of a file that has no bytes: to store into it is SIGBUS.
func withoutPages(t *testing.T) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "empty"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := syscall.Mmap(int(f.Fd()), 0, segmentLimit, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func truncate(t *testing.T, m *mapping, n int64) {
	t.Helper()
	if err := m.file.Truncate(n); err != nil {
		t.Fatal(err)
	}
}

// A kill comes amid a store as a fault does: what must not be there then is the first byte.
func TestStoreThatEndsAmidARecordLeavesNone(t *testing.T) {
	page := os.Getpagesize()
	for at := page - 100; at < page; at++ {
		f, err := os.Create(filepath.Join(mappable(t), "one page"))
		if err != nil {
			t.Fatal(err)
		}
		m := &mapping{file: f, at: at}
		if m.data, err = syscall.Mmap(int(f.Fd()), 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_SHARED); err != nil {
			t.Fatal(err)
		}
		truncate(t, m, int64(page))
		if err := m.store(bytes.Repeat([]byte{mark}, 110)); !errors.As(err, new(faultError)) {
			t.Fatalf("store(at %d, over the end) = %v, want a fault", at, err)
		}
		if m.data[at] != 0 {
			t.Errorf("at %d: a record has begun that is not there", at)
		}
		if err := errors.Join(m.unmap(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLedgerMappingLeavesOtherPanicsAlone(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("a mistake of the program is taken for a fault of the disk")
		}
	}()
	m := &mapping{data: make([]byte, 10)}
	t.Error(m.store(make([]byte, 20)))
}

// The kernel says which pages of a mapping are not on the disk yet.
func TestSyncTakesWhatWasStored(t *testing.T) {
	folder := mappable(t)
	if strings.HasPrefix(folder, "/dev/shm") {
		t.Log("note: tmpfs has no disk to sync to")
		return
	}
	synctest.Test(t, func(t *testing.T) { // no second passes in which the ledger syncs by itself
		l := opened(t, Config{Store: newStore(), Path: folder, FlushEvery: time.Hour})
		charge(t, l, "app", 1)
		m := mappingOf(t, l)
		for range 3 {
			charge(t, l, "app", 500)
			if dirty(t, m) == 0 {
				t.Error("what was just stored is on the disk, or the kernel does not say")
			}
			if err := m.Sync(); err != nil || dirty(t, m) != 0 {
				t.Errorf("Sync() = %v, and %d KiB are not on the disk", err, dirty(t, m))
			}
		}
		l.drop()
	})
}

// dirty returns how many KiB of a mapping smaps calls so.
func dirty(t *testing.T, m *mapping) (kib int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), m.file.Name()+"\n")
	if !found {
		t.Fatalf("%s is not mapped", m.file.Name())
	}
	for row := range strings.Lines(part) {
		fields := strings.Fields(row)
		if fields[0] == "VmFlags:" {
			break
		}
		if strings.HasSuffix(fields[0], "_Dirty:") {
			n, _ := strconv.Atoi(fields[1])
			kib += n
		}
	}
	return kib
}

func TestMappedJournalGrowsPastItsRoom(t *testing.T) {
	folder, s := mappable(t), newStore()
	l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
	long := strings.Repeat("x", maxName)
	const n = 3 * roomStep / (2*maxName + 20)
	for range n {
		if err := l.Charge(long, long, noon, false); err != nil {
			t.Fatal(err)
		}
	}
	if m := mappingOf(t, l); m.room < 3*roomStep || m.room > 4*roomStep || m.data == nil {
		t.Errorf("%d bytes of room for %d, mapped %t", m.room, m.at, m.data != nil)
	}
	l.drop()
	closed(t, opened(t, Config{Store: s, Path: folder}))
	wantStored(t, s, long, n)
}

// A disk that cannot map is found out by the first file, one that is full is asked again.
func TestFileThatCannotBeMappedIsWritten(t *testing.T) {
	for why, stays := range map[error]bool{syscall.EOPNOTSUPP: false, syscall.ENODEV: false, syscall.ENOSPC: true,
		syscall.EDQUOT: true} {
		out, s := &lines{}, newStore()
		l := openedWith(t, Config{Store: s, Path: t.TempDir(), FlushEvery: time.Hour, Log: out.log()}, func(j *journal) {
			j.maps.Store(true)
			j.mapped = func(string, func(error)) (file, error) { return nil, why }
		})
		for range 3 {
			charge(t, l, "app", 1)
			if err := l.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if l.Mapped() != stays || out.times("cannot be kept in shared memory") != btoi(!stays) || l.Health() != nil {
			t.Errorf("%v: Mapped() = %t, Health() = %v, and the log says %q", why, l.Mapped(), l.Health(), out.text.String())
		}
		closed(t, l)
		wantStored(t, s, "app", 3)
	}
}

func TestFileThatCouldNotBeMappedIsGone(t *testing.T) {
	path := filepath.Join(mappable(t), "a.usage")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	full := func(*os.File, int64, int64) error { return syscall.ENOSPC }
	if m, err := newMapping(f, full, nil); !errors.Is(err, syscall.ENOSPC) || m != nil {
		t.Errorf("newMapping(no space) = %v, %v", m, err)
	}
	d := &disk{}
	if m, err := d.createMapped(path, nil); !errors.Is(err, syscall.ENOSPC) || m != nil ||
		len(files(t, filepath.Dir(path), "")) != 0 {
		t.Errorf("createMapped(no space) = %v, %v, and %v are left", m, err, files(t, filepath.Dir(path), ""))
	}
}

// Only file systems that are known to share are mapped on.
func TestLedgerJournalIsWrittenOnOtherFileSystems(t *testing.T) {
	if err := shares("/proc"); err == nil {
		t.Error("/proc shares")
	}
	if err := shares(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("shares(no folder) = %v", err)
	}
	// NFS, CIFS, SMB, FUSE, 9p, overlay, virtiofs, ZFS
	for _, number := range []uint32{0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x794c7630, 0x6a656a63,
		0x2fc12fc1} {
		if sharing[number] {
			t.Errorf("%#x is mapped on", number)
		}
	}
}

func TestCommitChangesOneByte(t *testing.T) {
	for at := range 12 {
		data := []byte("0123456789AB....")
		want := bytes.Clone(data)
		want[at] = mark
		if commit(data, at, mark); !bytes.Equal(data, want) {
			t.Errorf("commit(at %d) = %q, want %q", at, data, want)
		}
	}
}

func TestSegmentsThatEndedGiveTheirRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, s := mappable(t), newStore()
		s.setFaults(errAway, nil)
		l := opened(t, Config{Store: s, Path: folder})
		charge(t, l, "app", 3)
		time.Sleep(1500 * time.Millisecond)
		charge(t, l, "app", 1) // of the next batch
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		paths := files(t, folder, ofRecords)
		if len(paths) != 2 {
			t.Fatalf("files %v, want two", paths)
		}
		record := len(appendRecord(nil, &entry{"app", cell{product: "ai"}, amount{calls: 1}, 0}))
		if info, err := os.Stat(paths[0]); err != nil || info.Size() != int64(3*record) {
			t.Errorf("Stat(a sealed batch) = %v, %v, want the bytes of its records", info, err)
		}
		l.drop()
	})
}
