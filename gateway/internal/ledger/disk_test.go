package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// disk makes real files and can be made full, or fail to sync.
type disk struct {
	mu     sync.Mutex
	free   int   // bytes that may still be written; negative: any number
	sync   error // what Sync answers
	absent bool  // no file can be made
	made   []string
	writes int
	syncs  int
}

func (d *disk) setFaults(free int, sync error, absent bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free, d.sync, d.absent = free, sync, absent
}

func (d *disk) create(path string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.absent {
		return nil, syscall.ENOSPC
	}
	d.made = append(d.made, path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	return &diskFile{f, d}, err
}

type diskFile struct {
	*os.File
	disk *disk
}

func (f *diskFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.writes++
	if free := f.disk.free; free >= 0 && free < len(p) {
		f.disk.free = 0
		n, _ := f.File.Write(p[:free])
		return n, syscall.ENOSPC
	}
	f.disk.free -= min(len(p), max(0, f.disk.free))
	return f.File.Write(p)
}

func (f *diskFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs++
	return errors.Join(f.disk.sync, f.File.Sync())
}

func TestFullDiskInterruptsNobody(t *testing.T) {
	record := len(appendRecord(nil, &entry{"app", cell{product: "ai"}, amount{calls: 1}, 0}))
	for name, c := range map[string]struct {
		free   int
		absent bool
		writes int // up to the one that fails
	}{
		"amid a record":           {free: 2*record + 7, writes: 3},
		"between two records":     {free: 2 * record, writes: 3},
		"before the file is made": {absent: true},
	} {
		s, d, out := newStore(), &disk{}, &lines{}
		d.setFaults(c.free, nil, c.absent)
		l := openedOn(t, Config{Store: s, Path: t.TempDir(), Log: out.log(), FlushEvery: time.Hour}, d.create)
		charge(t, l, "app", 10)
		if err := l.Health(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: Health() = %v, want that the disk is full", name, err)
		}
		wantUsed(t, l, "app", 10)
		if n := out.times("level=ERROR"); n != 1 || d.writes != c.writes {
			t.Errorf("%s: %d lines and %d writes for 10 charges, want 1 and %d", name, n, d.writes, c.writes)
		}
		closed(t, l)
		wantStored(t, s, "app", 10)
	}
}

// A store that is away makes the journal the only place beside memory.
func TestLedgerWritesLaterWhatAFullDiskRefused(t *testing.T) {
	for name, full := range map[string]func(*disk){
		"no room":      func(d *disk) { d.setFaults(100, nil, false) },
		"no file":      func(d *disk) { d.setFaults(-1, nil, true) },
		"no sync":      func(d *disk) { d.setFaults(-1, syscall.EIO, false) },
		"nothing goes": func(d *disk) { d.setFaults(0, syscall.EIO, true) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s, d, out, folder := newStore(), &disk{}, &lines{}, t.TempDir()
			s.setFaults(errAway, nil)
			full(d)
			l := openedOn(t, Config{Store: s, Path: folder, Log: out.log()}, d.create)
			for range 30 {
				charge(t, l, "app", 10)
				time.Sleep(time.Second)
			}
			if l.disk.get() == nil {
				t.Errorf("%s: Health() says nothing of the disk", name)
			}
			if n := len(l.queue); n > 2 {
				t.Errorf("%s: %d batches wait after 30 s, want 2 at most: they would be one a second", name, n)
			}
			d.setFaults(-1, nil, false)
			time.Sleep(5 * time.Second)
			if err := l.disk.get(); err != nil {
				t.Errorf("%s: the disk is still %v, 5 s after it has room", name, err)
			}
			charge(t, l, "app", 1)
			l.drop()
			s.setFaults(nil, nil)
			closed(t, opened(t, Config{Store: s, Path: folder}))
			wantStored(t, s, "app", 301)
			if n := out.times("whole again"); n != 1 {
				t.Errorf("%s: %d lines say that the disk is well again, want 1", name, n)
			}
		})
	}
}

func TestDiskThatFailsOnceIsMendedWithoutAnotherCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d, folder := newStore(), &disk{}, t.TempDir()
		s.setFaults(errAway, nil)
		d.setFaults(20, nil, false)
		l := openedOn(t, Config{Store: s, Path: folder, FlushEvery: time.Hour}, d.create)
		charge(t, l, "app", 10)
		d.setFaults(-1, nil, false)
		time.Sleep(3 * time.Second)
		l.drop()
		s.setFaults(nil, nil)
		closed(t, opened(t, Config{Store: s, Path: folder}))
		wantStored(t, s, "app", 10)
	})
}

// A failed fsync may have dropped what it was to write, and the next one succeeds.
func TestFileThatFailedToSyncIsWrittenAnew(t *testing.T) {
	for name, every := range map[string]time.Duration{"open": time.Hour, "sealed": time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s, d := newStore(), &disk{free: -1, sync: syscall.EIO}
			s.setFaults(errAway, nil)
			l := openedOn(t, Config{Store: s, Path: t.TempDir(), FlushEvery: every}, d.create)
			charge(t, l, "app", 1)
			time.Sleep(1500 * time.Millisecond)
			d.setFaults(-1, nil, false)
			time.Sleep(time.Second)
			synctest.Wait()
			if want := d.made[0] + ofRewriting; d.made[len(d.made)-1] != want {
				t.Errorf("%s: files made %v, want %s last", name, d.made, want)
			}
			l.drop()
		})
	}
}

func TestCloseOnAFullDiskDoesNotPromiseTheJournal(t *testing.T) {
	s, d := newStore(), &disk{}
	d.setFaults(0, nil, false)
	l := openedOn(t, Config{Store: s, Path: t.TempDir()}, d.create)
	charge(t, l, "app", 1)
	s.setFaults(errAway, nil)
	if err := l.Close(t.Context()); !errors.Is(err, errAway) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close() = %v, want both reasons", err)
	}
}

func TestJournalIsSyncedEachSecondWhileSomethingIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{free: -1}
		l := openedOn(t, Config{Store: newStore(), Path: t.TempDir(), FlushEvery: 24 * time.Hour}, d.create)
		for i := range 5 {
			charge(t, l, "app", 100)
			time.Sleep(time.Second)
			synctest.Wait()
			if d.syncs != i+1 {
				t.Errorf("after %d s with charges: %d syncs, want one each", i+1, d.syncs)
			}
		}
		time.Sleep(time.Hour)
		if d.syncs != 5 {
			t.Errorf("after an idle hour: %d syncs, want no further one", d.syncs)
		}
		l.drop()
	})
}

func TestChargeIsOneWrite(t *testing.T) {
	d := &disk{free: -1}
	l := openedOn(t, Config{Store: newStore(), Path: t.TempDir(), FlushEvery: time.Hour}, d.create)
	charge(t, l, "app", 100)
	if d.writes != 100 {
		t.Errorf("%d writes for 100 charges, want one each", d.writes)
	}
	if n := testing.AllocsPerRun(1000,
		func() { l.ChargeDetailed("app", "ai", Detail{Took: time.Second}, noon, false) }); n != 0 {
		t.Errorf("a charge of a known row makes %v allocations, want none", n)
	}
}

func TestLongJournalIsSummedUpWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, folder := newStore(), t.TempDir()
		s.setFaults(errAway, nil)
		l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
		charge(t, l, "app", 1)
		l.mu.Lock()
		l.open.segment.bytes = segmentLimit - 1
		l.mu.Unlock()
		charge(t, l, "app", 1)
		charge(t, l, "app", 5)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		paths := files(t, folder, ofRecords)
		if len(paths) != 2 {
			t.Fatalf("files %v, want two: a batch ends where its file is full", paths)
		}
		if info, err := os.Stat(paths[0]); err != nil ||
			int(info.Size()) > len(appendRecord(nil, &entry{"app", cell{product: "ai"}, amount{calls: 1}, 0})) {
			t.Errorf("%s has %d bytes, want those of one record", filepath.Base(paths[0]), info.Size())
		}
		l.drop()
		s.setFaults(nil, nil)
		closed(t, opened(t, Config{Store: s, Path: folder}))
		wantStored(t, s, "app", 7)
	})
}

func TestUnfinishedRewritingIsForgotten(t *testing.T) {
	data, _ := small()
	folder := left(t, data)
	path := files(t, folder, ofRecords)[0] + ofRewriting
	if err := os.WriteFile(path, data[:30], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, folder, &lines{}); len(got) != 4 || len(files(t, folder, ofRewriting)) != 0 {
		t.Errorf("%d calls are counted, and %v left, want 4, and no file", len(got), files(t, folder, ""))
	}
}
