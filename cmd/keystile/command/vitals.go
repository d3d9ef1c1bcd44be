package command

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/storage"
)

const (
	vitalWait = 2 * time.Second // for the store, each time the metrics are read
	// queueAge is for how long what waits in the store is not read again: several may read the metrics, and
	// each asks for several figures.
	queueAge = 5 * time.Second
	// queueMost bounds what is read of a queue. That so many wait is bad enough.
	queueMost = 100
	// laterThanAll is when everything that waits is due: nothing is deferred for longer.
	laterThanAll = 24 * time.Hour
)

// watch adds what the store and the machine are well by to the metrics.
func (h *dataStore) watch(m *metrics.Metrics) {
	asked := func(name, help string, fine func(context.Context) error) {
		m.Gauge(name, help, metrics.Truth(func() bool {
			ctx, cancel := context.WithTimeout(context.Background(), vitalWait)
			defer cancel()
			return fine(ctx) == nil
		}))
	}
	asked("keystile_ready", "1 while /healthz/ready answers 200: requests may be sent here.", h.Ready)
	asked("keystile_store_ready", "1 while the store can be read, and the last write to it went well.", h.store.Ready)
	m.Gauge("keystile_time_seconds",
		"What time the clock of this machine says it is, since 1970: compare it with the clock of the reader.",
		func() float64 { return float64(time.Now().UnixMilli()) / 1000 })
	m.Gauge("keystile_clock_wrong",
		"1 while the clock of this machine disagrees with the times in the store by more than a clock may.",
		metrics.Truth(func() bool { return h.store.ClockErr() != nil }))
	m.Gauge("keystile_clock_offset_seconds",
		"How far the clock of this machine is ahead of the store's, or behind it; 0 where the store has none of its own.",
		func() float64 { return h.store.ClockAhead().Seconds() })
	m.Gauge("keystile_store_size_bytes",
		"How large the store is; 0 where it is not known without reading it, as of a database.", func() float64 {
			_, _, _, bytes := h.store.Describe()
			return float64(bytes)
		})
	m.Gauge("keystile_disk_free_bytes", "What is free on the file system of the data folder, for this process.",
		func() float64 { free, _ := disk(h.Path()); return free })
	m.Gauge("keystile_disk_size_bytes", "How large the file system of the data folder is.",
		func() float64 { _, size := disk(h.Path()); return size })
	mails := &queue{count: countMails(h.store)}
	webhooks := &queue{count: countWebhooks(h.store)}
	for _, q := range []struct {
		name, of string
		queue    *queue
	}{{"mails", "Emails", mails}, {"webhooks", "Webhooks, user events and logouts", webhooks}} {
		m.Gauge("keystile_"+q.name+"_waiting", q.of+" that wait in the store to be sent by any node, up to 100.",
			func() float64 { return q.queue.read().waiting })
		m.Gauge("keystile_"+q.name+"_retried", q.of+" among them that were tried twice or more, and not taken.",
			func() float64 { return q.queue.read().retried })
	}
}

// waiting counts what a queue in the store holds. Both are NaN while the store does not say.
type waiting struct{ waiting, retried float64 }

// queue reads what waits now and then.
type queue struct {
	count func(ctx context.Context, by time.Time) (waiting, error)

	mu   sync.Mutex
	at   time.Time
	last waiting
}

func (q *queue) read() waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.at.IsZero() && time.Since(q.at) < queueAge {
		return q.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), vitalWait)
	defer cancel()
	w, err := q.count(ctx, time.Now().Add(laterThanAll))
	if err != nil {
		w = waiting{math.NaN(), math.NaN()}
	}
	q.at, q.last = time.Now(), w
	return w
}

// add counts one that waits. The first attempt is still going on, or has just failed, where there was one.
func (w *waiting) add(attempts int) {
	w.waiting++
	if attempts > 1 {
		w.retried++
	}
}

func countMails(s *storage.Store) func(context.Context, time.Time) (waiting, error) {
	return func(ctx context.Context, by time.Time) (w waiting, err error) {
		all, err := s.DueMails(ctx, by, queueMost)
		for _, m := range all {
			w.add(m.Attempts)
		}
		return w, err
	}
}

func countWebhooks(s *storage.Store) func(context.Context, time.Time) (waiting, error) {
	return func(ctx context.Context, by time.Time) (w waiting, err error) {
		for _, due := range []func(context.Context, time.Time, int) ([]storage.Delivery, error){s.DueDeliveries, s.DueTold} {
			all, err := due(ctx, by, queueMost)
			if err != nil {
				return w, err
			}
			for _, d := range all[:min(len(all), queueMost-int(w.waiting))] {
				w.add(d.Attempts)
			}
		}
		return w, nil
	}
}
