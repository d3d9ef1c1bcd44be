package nodes

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Config says how to Join. Zero values are the defaults.
type Config struct {
	Store Store        // required
	Name  string       // for people; the host's name
	Build string       // the version of the program; that of its main module
	Log   *slog.Logger // slog.Default()
}

// Node is this process among those that serve from the store. It is safe for concurrent use.
type Node struct {
	c    Config
	live atomic.Int64

	mu       sync.Mutex
	beat     Beat // as it was stored last
	observed observed

	failing bool // the last turn failed; belongs to run
	end     context.CancelFunc
	done    chan struct{} // closed when run has ended; nil: it never began
	closed  sync.Once
}

// callTimeout bounds what a beat waits for the store, and what Close does.
const callTimeout = 5 * time.Second

// Join makes this process known to the others, and them to it, until Close. Where the store is not
// shared it is the only node, and nothing is written.
func Join(ctx context.Context, c Config) (*Node, error) {
	if c.Store == nil {
		return nil, errors.New("nodes: Config: Store is missing")
	}
	c.complete()
	now := time.Now()
	n := &Node{c: c}
	n.beat = Beat{ID: rand.Text(), Name: c.Name, Build: c.Build, Started: now.UTC().Truncate(time.Second),
		Every: beatEvery}
	n.observed.self = n.beat.ID
	n.live.Store(1)
	if !c.Store.Shared() {
		return n, nil
	}
	if err := n.turn(ctx); err != nil {
		return nil, fmt.Errorf("nodes: join: %w", err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	n.end, n.done = end, make(chan struct{})
	go n.run(life)
	return n, nil
}

func (c *Config) complete() {
	if c.Name == "" {
		c.Name, _ = os.Hostname()
	}
	if info, ok := debug.ReadBuildInfo(); ok && c.Build == "" {
		c.Build = info.Main.Version
	}
	c.Name, c.Build = fitting(cmp.Or(c.Name, "unnamed")), fitting(c.Build)
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// fitting cuts a text to what a Beat holds.
func fitting(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// Live returns how many nodes there are, this one included: at least 1. It is as of the last
// reading, and does not wait for one.
func (n *Node) Live() int { return int(n.live.Load()) }

// ID returns the id of this start of the process.
func (n *Node) ID() string { return n.observed.self }

// Name returns what people call this node.
func (n *Node) Name() string { return n.c.Name }

// List reads all nodes, the oldest first: also those that went away lately without leaving.
func (n *Node) List(ctx context.Context) ([]Info, error) {
	if !n.c.Store.Shared() {
		return n.observed.infos(time.Now(), []Beat{n.beat}), nil
	}
	beats, err := n.c.Store.Beats(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.observed.infos(time.Now(), beats), nil
}

// run beats until life ends.
func (n *Node) run(life context.Context) {
	defer close(n.done)
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-timer.C:
		}
		err := n.turn(life)
		if life.Err() != nil {
			return
		}
		n.tell(err)
		timer.Reset(n.beat.Every)
	}
}

// tell logs that turns begin to fail, and that they work again.
func (n *Node) tell(err error) {
	switch failed := err != nil; {
	case failed && !n.failing:
		n.c.Log.Warn("other nodes cannot be told that this one lives: their number stays as it was", "live", n.Live(), "err",
			err)
	case !failed && n.failing:
		n.c.Log.Info("other nodes are told again that this one lives", "live", n.Live())
	}
	n.failing = err != nil
}

// turn beats, then reads the beats of the others. Where its own was not stored, theirs may not be
// either: then nothing is learned from them.
func (n *Node) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	apart := n.beat.Every
	if err := n.strike(ctx); err != nil {
		return err
	}
	beats, err := n.c.Store.Beats(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.observed.read(now, apart, beats)
	n.live.Store(int64(n.observed.count(now)))
	return nil
}

// strike stores a beat. One that is not there as it was left was swept while this process was
// paused, or lost by the store, or its answer was: then it goes by what is there.
func (n *Node) strike(ctx context.Context) error {
	b := n.next()
	saved, err := n.c.Store.SaveBeat(ctx, b)
	if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrExists) {
		stored, failed := n.c.Store.Beat(ctx, b.ID)
		if failed != nil && !errors.Is(failed, driver.ErrNotFound) {
			return failed
		}
		b.Version = stored.Version
		saved, err = n.c.Store.SaveBeat(ctx, b)
	}
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beat = saved
	return nil
}

// next returns the beat that is due.
func (n *Node) next() Beat {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, now := n.beat, time.Now().UTC()
	b.At, b.Every = now, n.observed.every()
	if b.Ends.Sub(now) < beatLife/2 { // seldom: an index holds it
		b.Ends = now.Add(beatLife)
	}
	return b
}

// Close leaves: the others know with their next reading. Where the store does not answer they know
// after three beats, and that is no error.
func (n *Node) Close(ctx context.Context) error {
	if n.done == nil {
		return nil
	}
	n.closed.Do(func() {
		n.end()
		<-n.done
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := n.leave(ctx); err != nil {
			n.c.Log.Warn("the other nodes could not be told that this one leaves; they notice by themselves", "err", err)
		}
	})
	return nil
}

func (n *Node) leave(ctx context.Context) error {
	err := n.c.Store.RemoveBeat(ctx, n.beat)
	if !errors.Is(err, driver.ErrConflict) {
		return err
	}
	b, err := n.c.Store.Beat(ctx, n.beat.ID) // a beat whose answer was lost
	if errors.Is(err, driver.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return n.c.Store.RemoveBeat(ctx, b)
}
