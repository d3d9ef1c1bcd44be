package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/keystile/keystile/storage/driver"
)

// Store is a driver.Backend in one SQLite database.
type Store struct {
	file   *os.File // held for this process alone
	writes *sql.DB  // one connection, the writer's
	reads  *sql.DB

	queue       chan *job
	quit, ended chan struct{}
	closing     sync.Once
}

var _ driver.Backend = (*Store)(nil)

//go:embed schema.sql
var schema string

// application is "Kstl": PRAGMA application_id tells which program owns a database.
const application = 0x4b73746c

// Open opens the database at path, and makes it where there is none. A database that another
// process has open, or that is somebody else's, is refused.
//
// The database is in WAL mode and synchronous=FULL, so an answered write survives a power cut.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	s := &Store{queue: make(chan *job), quit: make(chan struct{}), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), s.release())
		}
	}()
	if s.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	// SQLite locks by fcntl, which is independent of flock. The file stays open as long as the
	// database is: closing it earlier would take SQLite's own locks away.
	if err := syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.New("the database is in use by another process")
	}
	if s.writes, err = connect(path, durable+"&_txlock=immediate"); err != nil {
		return nil, err
	}
	s.writes.SetMaxOpenConns(1)
	if err := prepare(ctx, s.writes); err != nil {
		return nil, err
	}
	if s.reads, err = connect(path, durable+"&_pragma=query_only(1)"); err != nil {
		return nil, err
	}
	s.reads.SetMaxOpenConns(8)
	s.reads.SetMaxIdleConns(8)
	go s.serve()
	return s, nil
}

// durable has commits that survive a power cut. Readers wait for no writer, nor the writer for them.
const durable = "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"

func connect(path, options string) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: absolute, RawQuery: options}
	return sql.Open("sqlite", name.String())
}

// prepare makes the tables of a new database, and refuses what is none of ours.
func prepare(ctx context.Context, db *sql.DB) error {
	var whose, tables int
	if err := db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM "+
		"sqlite_schema").Scan(&whose, &tables); err != nil {
		return err
	}
	if whose != application && tables > 0 {
		return errors.New("the database is another program's")
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("BEGIN; PRAGMA application_id = %d; %s COMMIT;", application, schema))
	return err
}

// Close answers what was accepted, and folds the write-ahead log into the database.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		close(s.quit)
		<-s.ended
		err = s.release()
	})
	return err
}

// release closes what is open, the lock last.
func (s *Store) release() (err error) {
	for _, db := range []*sql.DB{s.reads, s.writes} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// Copy writes a copy of what is committed now.
func (s *Store) Copy(w io.Writer) (int64, error) {
	folder, err := os.MkdirTemp("", "keystile-copy-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "copy.db")
	db, err := connect(s.file.Name(), "mode=rw") // not the writer's: others go on writing meanwhile
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if _, err := db.Exec("VACUUM INTO ?", name); err != nil {
		return 0, err
	}
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return io.Copy(w, file)
}

// Check reads every page of a database that nobody has open, and counts the rows of its tables.
// It leaves the file as it is, byte for byte: its checksum is taken before.
func Check(path string) (map[string]int, error) {
	db, err := connect(path, "mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check(1)").Scan(&said); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if said != "ok" {
		return nil, fmt.Errorf("%s is damaged: %s", path, said)
	}
	counts := map[string]int{}
	for _, table := range []string{"token", "revocation", "usage", "record", "doc"} {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		counts[table] = n
	}
	return counts, nil
}
