package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

const (
	segmentLimit = 16 << 20         // bytes after which a batch is sealed
	roomStep     = 256 << 10        // bytes of zeros that a mapped file grows by: some thousand records
	rewriteAbove = segmentLimit / 2 // bytes of a waiting batch worth summing up
)

// segment is the file of one batch. While the batch is open, Ledger.mu guards it,
// afterwards Ledger.tidying.
type segment struct {
	journal *journal
	path    string
	file    file // nil if it could not be made
	bytes   int64
	stale   bool  // it may hold what a power cut takes
	err     error // why it does not hold all of its batch
	settled bool  // written, synced and closed, or removed
	damaged bool  // read so; it is kept
}

func (j *journal) begin(id driver.Batch) *segment {
	s := &segment{journal: j, path: filepath.Join(j.folder, fileName(id))}
	var unmapped error
	if j.maps.Load() {
		if s.file, unmapped = j.mapped(s.path, j.stopMapping); unmapped == nil {
			return s
		}
	}
	s.file, s.err = j.create(s.path)
	if unmapped != nil && s.err == nil && !full(unmapped) { // else the next segment may be mapped again
		j.stopMapping(unmapped)
	}
	return s
}

// write appends one record. After a failure the file may end amid a record,
// so nothing is appended any more until settle has written it anew.
func (s *segment) write(record []byte) error {
	if s.err != nil {
		return s.err
	}
	n, err := s.file.Write(record)
	s.bytes += int64(n)
	s.err = err
	return err
}

// settle leaves the file on disk with exactly the rows of its batch.
func (s *segment) settle(b *batch) error {
	switch {
	case s.settled:
		return nil
	case s.err == nil && s.bytes <= rewriteAbove:
		s.err = errors.Join(s.file.Sync(), s.journal.sync())
	default:
		s.err = s.rewrite(b.entries())
	}
	if s.err != nil {
		return s.err
	}
	s.settled = true
	return s.close()
}

// rewrite puts a file with one record for each entry in the place of the old one. A kill
// leaves the one or the other: both stand for the same batch.
func (s *segment) rewrite(entries []entry) (err error) {
	path := s.path + ofRewriting
	f, err := s.journal.create(path)
	if err != nil {
		return err
	}
	var data []byte
	for _, e := range entries {
		data = appendRecord(data, &e)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return errors.Join(os.Rename(path, s.path), s.journal.sync())
}

// remove takes the file away; its batch is in the store.
func (s *segment) remove() error {
	err := s.close()
	s.settled = true
	if s.damaged {
		return errors.Join(err, os.Rename(s.path, strings.TrimSuffix(s.path, ofRecords)+ofDamaged))
	}
	if gone := os.Remove(s.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
