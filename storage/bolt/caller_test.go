package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"go.etcd.io/bbolt"
)

func TestCloseAnswersThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		release := hold(t, s)
		var callers sync.WaitGroup
		for i := range 64 {
			callers.Go(func() {
				if err := s.Issue(t.Context(), numbered(i)); !errors.Is(err, errClosed) {
					t.Errorf("Issue(waiting at Close) = %v, want %v", err, errClosed)
				}
			})
		}
		synctest.Wait()
		callers.Go(func() { s.Close() })
		synctest.Wait() // Close waits for the accepted job alone
		if err := release(); err != nil {
			t.Errorf("the accepted job = %v, want nil", err)
		}
		callers.Wait()
		for range 2 {
			if err := s.Close(); err != nil {
				t.Errorf("Close() again = %v, want nil", err)
			}
		}
	})
}

func TestCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		release := hold(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range 2 { // neither of them is accepted
			if err := s.Issue(ctx, numbered(i)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Issue(1 s) = %v, want %v", err, context.DeadlineExceeded)
			}
		}
		release()
		busy := make(chan struct{})
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.write(ctx, func(*bbolt.Tx) error { <-busy; return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("write(accepted, 1 s) = %v, want %v", err, context.DeadlineExceeded)
		}
		close(busy)
		if _, err := s.Token(t.Context(), numbered(0).Key); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("Token(of who left before) = %v, want ErrNotFound", err)
		}
	})
}

// hold keeps the writer busy with a job until release, which returns its answer.
func hold(t *testing.T, s *Store) (release func() error) {
	busy, answer := make(chan struct{}), make(chan error, 1)
	go func() {
		answer <- s.write(t.Context(), func(*bbolt.Tx) error { <-busy; return nil })
	}()
	synctest.Wait()
	return func() error {
		close(busy)
		return <-answer
	}
}

// atOnce makes n calls wait behind one job, so that they become one batch.
func atOnce(t *testing.T, s *Store, n int, call func(i int) error) []error {
	release := hold(t, s)
	answers := make([]error, n)
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() { answers[i] = call(i) })
	}
	synctest.Wait()
	release()
	callers.Wait()
	return answers
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "keystile.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func numbered(i int) driver.Token {
	return driver.Token{Key: handle.KeyOf(fmt.Sprint(i)), Kind: driver.KindRefresh, ExpiresAt: time.Unix(1e10, 0)}
}

func transactions(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.view(t.Context(), func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
