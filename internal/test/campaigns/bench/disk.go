//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// commits measures what the disk allows a lone writer: one token after the other, each durable.
// It is measured through the store, whose one commit is one of bbolt.
func (b *bench) commits() (sample, error) {
	dir, err := os.MkdirTemp(b.dir, "commits-")
	if err != nil {
		return sample{}, err
	}
	store, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		return sample{}, err
	}
	s, err := alone(b.seconds/2, func() error {
		now := time.Now()
		return store.Issue(context.Background(), driver.Token{
			Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now)), Kind: driver.KindRefresh, Grant: handle.NewGrant(now),
			GrantedAt: now, AppID: "ks", UserID: "u", IssuedAt: now, ExpiresAt: now.Add(time.Hour), AuthTime: now,
			LoginType: storage.LoginSelf,
		})
	})
	return s, errors.Join(err, store.Close())
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
