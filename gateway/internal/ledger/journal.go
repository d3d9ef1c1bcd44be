package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/keystile/keystile/storage/driver"
)

const (
	lockName    = "lock"
	ofRecords   = ".usage"
	ofDamaged   = ".damaged"
	ofRewriting = ".new"
)

// maxJournalFile bounds what is read at a start. Far more than segmentLimit: nothing that
// this package has written is refused.
const maxJournalFile = 4 * segmentLimit

// journal is the folder of the segments, and the lock on it.
type journal struct {
	folder string
	lock   io.Closer
	log    *slog.Logger
	create func(path string) (file, error)
	mapped func(path string, failed func(error)) (file, error)
	maps   atomic.Bool // whether segments begin as mappings
}

// file holds the methods of an *os.File that a segment uses.
type file interface {
	io.WriteCloser
	Sync() error
}

func createFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err // and not f, which would be a file that is there and nil
	}
	return f, nil
}

// openJournal takes the folder, and makes it (mode 0700) if there is none.
func openJournal(folder string) (*journal, error) {
	err := os.Mkdir(folder, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		synced := syncFolder(filepath.Dir(folder)) // also when it is there: who made it may have been killed before this
		if err == nil && !errors.Is(synced, fs.ErrPermission) {
			err = synced
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("ledger: the folder of the usage journal cannot be made; make the one it belongs in, or "+
			"choose another: %w", err)
	}
	lock, err := hold(filepath.Join(folder, lockName))
	if err != nil {
		return nil, fmt.Errorf("ledger: the usage journal %s: %w", folder, err)
	}
	return &journal{folder: folder, lock: lock, log: slog.Default(), create: createFile, mapped: createMapped}, nil
}

// tryMapping has segments be mapped, where the file system can.
func (j *journal) tryMapping() {
	if err := shares(j.folder); err != nil {
		j.log.Info("ledger: each call is written to the usage journal, which takes longer than to store it into shared "+
			"memory", "folder", j.folder, "why", err)
		return
	}
	j.maps.Store(true)
}

// stopMapping has the segments to come be written. It takes a little longer, and keeps as much.
func (j *journal) stopMapping(err error) {
	if j.maps.CompareAndSwap(true, false) {
		j.log.Warn("ledger: the usage journal cannot be kept in shared memory; from now on each call is written to it, "+
			"which takes longer: look at the disk", "folder", j.folder, "err", err)
	}
}

// recover returns what an earlier process has not had acknowledged: the batches by node,
// and of each node in the order of their numbers, which is the one order a store accepts.
func (j *journal) recover() (batches []*batch, err error) {
	entries, err := os.ReadDir(j.folder) // by name
	if err != nil {
		return nil, fmt.Errorf("ledger: read the usage journal: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(j.folder, e.Name())
		if strings.HasSuffix(path, ofRewriting) {
			os.Remove(path) // a kill came before it took the place of its file
		}
		id, ok := batchOf(e.Name())
		if !ok {
			continue
		}
		b, err := j.read(path, id)
		if err != nil {
			return nil, fmt.Errorf("ledger: the usage journal %s: %w", path, err)
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// read makes a batch of a file.
func (j *journal) read(path string, id driver.Batch) (*batch, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	b := newBatch(id)
	b.doubtful = true
	lost, err := replay(data, func(e entry) { b.add(&e, nil) })
	if err != nil {
		return nil, err
	}
	b.segment = &segment{journal: j, path: path, settled: true, damaged: lost.damaged > 0}
	if lost.torn > 0 {
		j.log.Warn("ledger: a usage journal ends amid a record, which nobody was answered for", "file", path, "bytes",
			lost.torn)
	}
	if lost.damaged > 0 {
		j.log.Error("ledger: a usage journal is damaged; the rest of it is counted, and the file is kept as *"+ofDamaged+
			": look at the disk, and compare with the audit trail", "file", path, "bytes", lost.damaged)
	}
	return b, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxJournalFile {
		err = errors.New("larger than any this program writes; move it away to start without what it holds")
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func fileName(id driver.Batch) string { return fmt.Sprintf("%s-%016x%s", id.Node, id.Seq, ofRecords) }

// batchOf reads what fileName wrote.
func batchOf(name string) (id driver.Batch, ok bool) {
	node, number, _ := strings.Cut(strings.TrimSuffix(name, ofRecords), "-")
	seq, err := strconv.ParseUint(number, 16, 64)
	id = driver.Batch{Node: node, Seq: seq}
	return id, err == nil && node != "" && seq > 0 && fileName(id) == name
}

// sync makes the names of the files survive a power cut.
func (j *journal) sync() error { return syncFolder(j.folder) }

// syncFolder makes the names in a folder survive a power cut. Not every system can.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
