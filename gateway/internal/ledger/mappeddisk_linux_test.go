package ledger

import (
	"errors"
	"os"
	"syscall"
)

func init() {
	mapOn = func(j *journal, d *disk) {
		j.maps.Store(true)
		j.mapped = d.createMapped
	}
}

// createMapped makes a mapped file of a disk that can be made full, or fail to sync.
func (d *disk) createMapped(path string, failed func(error)) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	m, err := newMapping(f, func(f *os.File, at, n int64) error {
		if err := d.take(int(n)); err != nil {
			return err
		}
		return allocate(f, at, n)
	}, failed)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &mappedFile{m, d}, nil
}

// take uses some of the space.
func (d *disk) take(n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.absent || d.free >= 0 && d.free < n {
		return syscall.ENOSPC
	}
	d.free -= min(n, max(0, d.free))
	return nil
}

type mappedFile struct {
	*mapping
	disk *disk
}

func (f *mappedFile) Write(p []byte) (int, error) {
	if f.data == nil {
		if err := f.disk.take(len(p)); err != nil {
			return 0, err
		}
	}
	return f.mapping.Write(p)
}

func (f *mappedFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs++
	return errors.Join(f.disk.sync, f.mapping.Sync())
}
