//go:build linux

package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// sharing are the file systems, by the number that statfs(2) has for them, whose shared mappings
// are the page cache that write(2) fills and fsync(2) empties, and which can keep blocks for what
// is to come. On any other, such as those of another machine or of a program of its own, and on an
// overlay, which may be on one of these, records are written.
var sharing = map[uint32]bool{
	0x0000EF53: true, // ext2, ext3, ext4
	0x58465342: true, // XFS
	0x9123683E: true, // Btrfs
	0xF2F52010: true, // F2FS
	0x01021994: true, // tmpfs
}

// shares returns why files in a folder cannot be mapped, nil if they can.
func shares(folder string) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	if !sharing[uint32(s.Type)] {
		return fmt.Errorf("its file system, %#x, is none of which that is known", uint32(s.Type))
	}
	return nil
}

// mapping is a journal file that is in memory too, as pages that the kernel owns: a record that is
// stored there is in the file as one that was written, without a system call.
//
// The pages have blocks on the disk before anything is stored into them, because a store that finds
// no space is SIGBUS. Write is called by one goroutine at a time; Sync may run beside it.
type mapping struct {
	file     *os.File
	allocate func(f *os.File, at, n int64) error
	failed   func(error) // is told of a fault

	data []byte // nil: the rest is written
	at   int    // behind the last record

	mu   sync.Mutex // guards what follows
	room int        // bytes of the file that have blocks
}

// createMapped makes a file that is mapped. It removes the file again when it fails.
func createMapped(path string, failed func(error)) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	m, err := newMapping(f, allocate, failed)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return m, nil
}

func newMapping(f *os.File, allocate func(f *os.File, at, n int64) error, failed func(error)) (*mapping, error) {
	m := &mapping{file: f, allocate: allocate, failed: failed}
	if err := m.grow(1); err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, segmentLimit+recordSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	m.data = data
	return m, os.NewSyscallError("mmap", err)
}

// allocate has a file grow by bytes that have blocks on the disk.
func allocate(f *os.File, at, n int64) error {
	for {
		if err := syscall.Fallocate(int(f.Fd()), 0, at, n); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// Write appends one record. One that does not fit into the mapping, or finds it broken, is written
// with write(2), and so are all that follow.
func (m *mapping) Write(record []byte) (n int, err error) {
	if m.data != nil {
		if err = m.grow(m.at + len(record)); err == nil {
			err = m.store(record)
		}
		if err == nil {
			m.at += len(record)
			return len(record), nil
		}
		if err = m.leave(err); err != nil {
			return 0, err
		}
	}
	n, err = m.file.WriteAt(record, int64(m.at))
	m.at += n
	return n, err
}

// grow has the file hold so many bytes, and some that follow.
func (m *mapping) grow(to int) error {
	if to <= m.room { // written by the caller alone
		return nil
	}
	if to > segmentLimit+recordSize {
		return syscall.EFBIG
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.allocate(m.file, int64(m.room), roomStep); err != nil {
		return err
	}
	m.room += roomStep
	return nil
}

// store puts a record behind the last one. Its first byte comes last: until then the file ends, for
// a reader, before this record, however few bytes of it a kill has let through.
func (m *mapping) store(record []byte) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			err = faultOf(r)
		}
	}()
	copy(m.data[m.at+1:m.at+len(record)], record[1:])
	commit(m.data, m.at, record[0])
	return nil
}

// commit stores one byte after all that was stored before. It does so with the aligned word that the
// byte is in, the smallest that has atomic stores.
func commit(data []byte, at int, b byte) {
	first := at &^ 3
	word := [4]byte(data[first : first+4])
	word[at-first] = b
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&data[first])), *(*uint32)(unsafe.Pointer(&word)))
}

// faultOf returns the fault that a store ended in. Any other panic goes on.
func faultOf(r any) error {
	if f, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	}); ok {
		return faultError{f}
	}
	panic(r)
}

// faultError is a store into a page that its file does not have any more, or cannot bring.
type faultError struct{ cause error }

func (f faultError) Error() string {
	return "a store into the usage journal failed: " + f.cause.Error()
}

// leave has all further records written. It fails if the file has not all of those that are there.
func (m *mapping) leave(err error) error {
	if _, broken := err.(faultError); broken {
		m.failed(err)
	}
	return errors.Join(m.unmap(), m.whole())
}

// whole looks that nobody has cut the file off: what is stored behind its end is lost without a fault.
func (m *mapping) whole() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := m.file.Stat()
	if err == nil && info.Size() < int64(m.room) {
		err = fmt.Errorf("%s has %d bytes, fewer than were made: leave the folder to this program", m.file.Name(),
			info.Size())
	}
	return err
}

func (m *mapping) unmap() error {
	data := m.data
	if m.data = nil; data == nil {
		return nil
	}
	return os.NewSyscallError("munmap", syscall.Munmap(data))
}

// Sync brings to the disk what was stored, as it does what was written: fsync(2) takes the pages of a
// mapping that were stored into with it.
func (m *mapping) Sync() error {
	if err := m.whole(); err != nil {
		return err
	}
	return m.file.Sync()
}

// Close gives back the blocks that no record is in.
func (m *mapping) Close() error {
	return errors.Join(m.unmap(), m.file.Truncate(int64(m.at)), m.file.Close())
}

// full reports whether there is no space now, and may be later.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
