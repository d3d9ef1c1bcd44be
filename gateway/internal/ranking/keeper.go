package ranking

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage/driver"
)

const (
	saveEvery = time.Minute
	saveWait  = 10 * time.Second // for one answer of the store
	maxDays   = 4                // that are counted at a time; more come of old journals alone
)

// Store keeps rankings; *storage.Store is one.
type Store interface {
	SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error)
}

// Keeper counts who calls most, and saves it. Make it with New.
type Keeper struct {
	store Store
	log   *slog.Logger
	stop  context.CancelFunc
	end   sync.WaitGroup

	saving sync.Mutex // held while saving; taken before mu
	mu     sync.Mutex
	days   map[place]*kept
	failed bool // the store did not take the last one
}

// place names what a sketch counts.
type place struct {
	of  string
	day int64 // Unix seconds
}

// kept is a sketch with what the store has of it.
type kept struct {
	*sketch
	id      string
	version int64
	dirty   bool
}

// New makes a Keeper, which saves until Close.
func New(store Store, log *slog.Logger) *Keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &Keeper{store: store, log: log, stop: stop, days: map[place]*kept{}}
	k.end.Go(func() {
		tick := time.NewTicker(saveEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				k.save(ctx)
				k.forget(time.Now())
			case <-ctx.Done():
				return
			}
		}
	})
	return k
}

// Add counts calls. Calls of a user of an application that registered itself count for the
// application, and for the user: see storage.Caller.Account.
func (k *Keeper) Add(calls iter.Seq[ledger.Call]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range calls {
		app, user, _ := strings.Cut(c.App, " ")
		if c.User != "" {
			user = c.User
		}
		day := driver.Day(c.At).Unix()
		for _, one := range [...]struct{ of, name string }{{ranking.Apps, app}, {ranking.Tools, c.Tool},
			{ranking.Users, user}, {ranking.Agents, cmp.Or(c.Agent, app)}} {
			if one.name != "" {
				k.on(place{one.of, day}).count(one.name, c.Calls, c.Errors)
			}
		}
	}
}

func (s *kept) count(name string, calls, errors int64) {
	s.add(name, calls, errors)
	s.dirty = true
}

// on returns the sketch of a day. Where too many days are counted it drops the oldest.
func (k *Keeper) on(p place) *kept {
	s := k.days[p]
	if s == nil {
		s = &kept{sketch: newSketch(ranking.MaxNames), id: p.of + " " + rand.Text()}
		k.days[p] = s
		days := k.held()
		for len(days) > maxDays {
			k.drop(days[0])
			days = days[1:]
		}
	}
	return s
}

// held returns the days that are counted, ascending.
func (k *Keeper) held() []int64 {
	var days []int64
	for p := range k.days {
		days = append(days, p.day)
	}
	slices.Sort(days)
	return slices.Compact(days)
}

func (k *Keeper) drop(day int64) {
	maps.DeleteFunc(k.days, func(p place, _ *kept) bool { return p.day == day })
}

// forget drops days that are over and saved.
func (k *Keeper) forget(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	over := driver.Day(now).AddDate(0, 0, -1).Unix()
	maps.DeleteFunc(k.days, func(p place, s *kept) bool { return p.day < over && !s.dirty })
}

// Live returns what this process counts of the days from a time on, and before another. It takes the
// place of what the store has under the same ids, which may be older.
func (k *Keeper) Live(of string, from, to time.Time) (all []ranking.Ranking) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for p, s := range k.days {
		if day := time.Unix(p.day, 0).UTC(); p.of == of && !day.Before(driver.Day(from)) && day.Before(to) {
			all = append(all, s.as(p))
		}
	}
	return all
}

func (s *kept) as(p place) ranking.Ranking {
	return s.ranking(ranking.Ranking{ID: s.id, Of: p.of, Day: time.Unix(p.day, 0).UTC(), Version: s.version})
}

// save writes what has changed. A change that the store does not take is written with the next one.
func (k *Keeper) save(ctx context.Context) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	for _, p := range k.changed() {
		if err := k.saveOne(ctx, p); err != nil {
			k.complain(err)
			return err
		}
	}
	k.complain(nil)
	return nil
}

func (k *Keeper) changed() (all []place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for p, s := range k.days {
		if s.dirty {
			all = append(all, p)
		}
	}
	return all
}

func (k *Keeper) saveOne(ctx context.Context, p place) error {
	k.mu.Lock()
	s := k.days[p]
	if s == nil {
		k.mu.Unlock()
		return nil
	}
	r := s.as(p)
	s.dirty = false
	k.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, saveWait)
	defer cancel()
	saved, err := k.store.SaveRanking(limited, r)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		s.version = saved.Version
		return nil
	case errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrExists):
		// A write whose answer was lost has arrived, or a restored backup lacks it. The new one
		// counts from here on, so that nothing is counted twice.
		delete(k.days, p)
		return nil
	}
	s.dirty = true
	return err
}

func (k *Keeper) complain(err error) {
	k.mu.Lock()
	turned := (err != nil) != k.failed
	k.failed = err != nil
	k.mu.Unlock()
	if turned && err != nil {
		k.log.Warn("ranking: the store does not take who calls most; it is tried again each minute", "err", err)
	}
}

// Close saves what is counted, within ctx. Add must not be called any more.
func (k *Keeper) Close(ctx context.Context) error {
	k.stop()
	k.end.Wait()
	return k.save(ctx)
}
