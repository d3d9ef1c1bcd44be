package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// job is due at a time; a stored queue has one of each id.
type job struct {
	id  int
	due time.Time
}

// queue is a store of jobs that two runners may share.
type queue struct {
	mu     sync.Mutex
	jobs   []job
	done   []int
	errors int // how many more calls fail
	reads  int
	log    bytes.Buffer
}

const lease = time.Minute

func (q *queue) add(ids ...int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		q.jobs = append(q.jobs, job{id, time.Now()})
	}
}

func (q *queue) runner(t *testing.T, do func(ctx context.Context, j job)) *Runner[job] {
	r := New(Queue[job]{
		Due: func(_ context.Context, by time.Time, n int) ([]job, error) {
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.reads++; q.errors > 0 {
				q.errors--
				return nil, errors.New("the disk is gone")
			}
			all := slices.DeleteFunc(slices.Clone(q.jobs), func(j job) bool { return j.due.After(by) })
			slices.SortStableFunc(all, func(x, y job) int { return x.due.Compare(y.due) })
			return all[:min(n, len(all))], nil
		},
		Wait: func(j job, now time.Time) time.Duration { return j.due.Sub(now) },
		Claim: func(_ context.Context, j job) (job, bool, error) {
			q.mu.Lock()
			defer q.mu.Unlock()
			i := slices.Index(q.jobs, j)
			if i < 0 {
				return j, false, nil
			}
			q.jobs[i].due = time.Now().Add(lease)
			return q.jobs[i], true, nil
		},
		Do: func(ctx context.Context, j job) {
			if do != nil {
				do(ctx, j)
			}
			if ctx.Err() != nil {
				return
			}
			q.mu.Lock()
			defer q.mu.Unlock()
			q.done = append(q.done, j.id)
			q.jobs = slices.DeleteFunc(q.jobs, func(other job) bool { return other == j })
		},
		Every: 10 * time.Second, Parallel: 2, Failing: "it fails", Again: "it works again",
		Log: slog.New(slog.NewTextHandler(&q.log, nil)),
	})
	r.Start(t.Context())
	t.Cleanup(func() { _ = r.Close(ended()) })
	return r
}

func ended() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

func (q *queue) want(t *testing.T, want ...int) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	got := slices.Sorted(slices.Values(q.done))
	if !slices.Equal(got, want) {
		t.Errorf("done: %v, want %v", got, want)
	}
}

func TestRunnerFindsWhatOtherProcessesLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		q.add(1)
		q.runner(t, nil)
		synctest.Wait()
		q.want(t, 1)
		q.add(2) // and nobody wakes
		synctest.Wait()
		q.want(t, 1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		q.want(t, 1, 2)
	})
}

func TestDrainWaitsForEveryDueJobAndForNoLaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		r := q.runner(t, func(context.Context, job) { time.Sleep(time.Second) })
		synctest.Wait()
		q.add(1, 2, 3, 4, 5)
		q.mu.Lock()
		q.jobs = append(q.jobs, job{6, time.Now().Add(time.Minute)})
		q.mu.Unlock()
		began := time.Now()
		if err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		q.want(t, 1, 2, 3, 4, 5)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v, want 3 s for five jobs, two at a time", took)
		}
	})
}

func TestDrainEndsWithItsContextWithTheStoreAndWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		r := q.runner(t, func(ctx context.Context, _ job) { <-ctx.Done() })
		synctest.Wait()
		q.add(1)
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := r.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain() = %v, want that its time is over", err)
		}
		if err := r.Close(ended()); !errors.Is(err, context.Canceled) {
			t.Errorf("Close() = %v, want that a job was cut off", err)
		}
		if err := r.Drain(t.Context()); err != nil {
			t.Errorf("after Close: Drain() = %v", err)
		}
		q.want(t)

		failing := &queue{errors: 1_000_000}
		if err := failing.runner(t, nil).Drain(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("Drain() = %v, want the store's error", err)
		}
	})
}

func TestRunnersOfOneQueueDoEachJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		a, b := q.runner(t, nil), q.runner(t, nil)
		var want []int
		for i := range 3 * PageSize {
			q.add(i)
			want = append(want, i)
			a.Wake()
			b.Wake()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		q.want(t, want...)
	})
}

func TestStoreThatFailsIsAskedLessAndLessAndTheRecoveryIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{errors: 12}
		r := q.runner(t, nil)
		q.add(1)
		for range 600 {
			r.Wake()
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		q.mu.Lock()
		reads := q.reads
		q.mu.Unlock()
		if reads > 20 {
			t.Errorf("a store that fails was read %d times in a minute", reads)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		q.want(t, 1)
		if log := q.log.String(); strings.Count(log, "it fails") != 1 || strings.Count(log, "it works again") != 1 {
			t.Errorf("the log says %s", log)
		}
	})
}

func TestWriteIsRepeatedUntilTheLeaseIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		err := Record(t.Context(), began.Add(lease), func(context.Context) error { n++; return storage.ErrUnavailable })
		if took := time.Since(began); !errors.Is(err, storage.ErrUnavailable) || took >= lease || took < lease-2*LongWait ||
			n < 5 {
			t.Errorf("Record() = %v after %v and %d writes", err, took, n)
		}
		n = 0
		if err := Record(t.Context(), time.Now().Add(lease),
			func(context.Context) error { n++; return storage.ErrConflict }); !errors.Is(err, storage.ErrConflict) || n != 1 {
			t.Errorf("a conflict: %v after %d writes, want one: somebody else has the job", err, n)
		}
	})
}
