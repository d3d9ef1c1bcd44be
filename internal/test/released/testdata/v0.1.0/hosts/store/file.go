package store

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

// Store is a Backend on one file. The mutex guards all fields below it.
type Store struct {
	mu     sync.Mutex
	file   *os.File
	failed error // why nothing is answered any more
	kept   values
}

// values are JSON by key. A line of the file holds those a step has changed; null removes.
type values map[string]json.RawMessage

// Open reads the file back, or makes it. The folder is synced too: a power cut takes a
// new file whose name was never written.
func Open(path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, kept: values{}}
	dir, err := os.Open(filepath.Dir(path))
	if err = errors.Join(err, s.replay(), dir.Sync(), dir.Close()); err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, errors.Join(err, file.Close()))
	}
	return s, nil
}

// replay: behind the last newline stands at most a step that was never answered, because
// the process died; it is cut off. Any other line that cannot be read is damage, and not
// to be skipped: a spent token would be good again.
func (s *Store) replay() error {
	in, read := bufio.NewReader(s.file), int64(0)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return s.file.Truncate(read)
		}
		var changed values
		if err = errors.Join(err, json.Unmarshal(line, &changed)); err != nil {
			return fmt.Errorf("damaged at byte %d: %w", read, err)
		}
		s.apply(changed)
		read += int64(len(line))
	}
}

func (s *Store) apply(changed values) {
	for key, v := range changed {
		if s.kept[key] = v; string(v) == "null" {
			delete(s.kept, key)
		}
	}
}

// step is the work of one method, alone on the store. It keeps its first error, so that
// the methods do not have to.
type step struct {
	store   *Store
	changed values
	err     error
}

func (s *Store) begin(ctx context.Context) *step {
	s.mu.Lock()
	return &step{s, values{}, errors.Join(s.failed, ctx.Err())}
}

// end throws a step away that was refused, or ended in a panic. Any other is on the disk
// before anyone can read it.
func (x *step) end(err *error) {
	defer x.store.mu.Unlock()
	if p := recover(); p != nil {
		panic(p)
	}
	if *err = cmp.Or(x.err, *err); *err != nil || len(x.changed) == 0 {
		return
	}
	line, _ := json.Marshal(x.changed)
	_, failed := x.store.file.Write(append(line, '\n'))
	if failed = errors.Join(failed, x.store.file.Sync()); failed != nil {
		*err = fmt.Errorf("store: open it again, to see what the disk holds: %w", failed)
		x.store.failed = *err
		return
	}
	x.store.apply(x.changed)
}

// Close waits for the step in progress. Everything answered is on the disk already.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = errors.New("store: closed")
	return s.file.Close()
}

// keyOf joins what a value is found by: 0x00 is in no text.
func keyOf(parts ...string) string { return strings.Join(parts, "\x00") }

// load sees the step's own changes.
func load[T any](x *step, key string) (v T, err error) {
	text, changed := x.changed[key]
	if !changed {
		text = x.store.kept[key]
	}
	if text == nil || string(text) == "null" {
		return v, driver.ErrNotFound
	}
	err = json.Unmarshal(text, &v)
	x.err = errors.Join(x.err, err)
	return v, err
}

func (x *step) save(key string, v any) {
	text, err := json.Marshal(v)
	x.changed[key], x.err = text, errors.Join(x.err, err)
}

func (x *step) remove(key string) { x.changed[key] = json.RawMessage("null") }

// scan visits what was kept under a prefix, in the order of the keys' bytes.
func scan[T any](x *step, prefix string, visit func(key string, v T)) {
	for _, key := range slices.Sorted(maps.Keys(x.store.kept)) {
		if strings.HasPrefix(key, prefix) {
			v, _ := load[T](x, key)
			visit(key, v)
		}
	}
}

// next is a number that was never given before, in this life of the store or an earlier one.
func (x *step) next(name string) uint64 {
	last, _ := load[uint64](x, keyOf("last", name))
	x.save(keyOf("last", name), last+1)
	return last + 1
}
