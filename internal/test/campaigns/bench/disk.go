//go:build linux

package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// commits measures what the disk allows a lone writer of bbolt: one token after the other, each in a transaction of
// its own. The transaction is frozen here as the store made it when the goals were set, a row of 250 bytes and an entry
// of when it ends, so that it stays the same measure whatever the store comes to do.
func (b *bench) commits() (sample, error) {
	dir, err := os.MkdirTemp(b.dir, "commits-")
	if err != nil {
		return sample{}, err
	}
	db, err := bbolt.Open(filepath.Join(dir, "floor.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType,
		NoStatistics: true, InitialMmapSize: 1 << 30})
	if err != nil {
		return sample{}, err
	}
	s, err := alone(b.seconds/2, func() error { return db.Update(putToken) })
	return s, errors.Join(err, db.Close())
}

// putToken writes a row and its entry in a list, both behind those that are there.
func putToken(tx *bbolt.Tx) error {
	rows, err := tx.CreateBucketIfNotExists([]byte("tokens"))
	if err != nil {
		return err
	}
	ends, err := tx.CreateBucketIfNotExists([]byte("ends"))
	if err != nil {
		return err
	}
	rows.FillPercent, ends.FillPercent = 0.9, 0.9
	key := make([]byte, 32)
	rand.Read(key)
	binary.BigEndian.PutUint64(key, uint64(time.Now().UnixNano()))
	return errors.Join(rows.Put(key, make([]byte, 250)), ends.Put(slices.Concat(make([]byte, 12), key), nil))
}

// flushes is the disk itself: 4 KiB more in a file, then fdatasync.
func (b *bench) flushes() (sample, error) {
	f, err := os.CreateTemp(b.dir, "flushes-")
	if err != nil {
		return sample{}, err
	}
	page := make([]byte, 4<<10)
	s, err := alone(b.seconds/2, func() error {
		_, err := f.Write(page)
		return errors.Join(err, syscall.Fdatasync(int(f.Fd())))
	})
	return s, errors.Join(err, f.Close())
}

// alone repeats a piece of work for a time.
func alone(d time.Duration, work func() error) (sample, error) {
	var took []time.Duration
	began := time.Now()
	for last := began; last.Sub(began) < d; {
		if err := work(); err != nil {
			return sample{}, err
		}
		now := time.Now()
		took = append(took, now.Sub(last))
		last = now
	}
	slices.Sort(took)
	n := len(took)
	return sample{rate: float64(n) / time.Since(began).Seconds(), p50: took[n/2], p99: took[n*99/100]}, nil
}
