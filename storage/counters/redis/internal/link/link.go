// Package link is the connection to the server that counts for several nodes: it runs scripts while
// the server answers, and says at once that it does not while it is away.
//
// An act that fails is judged by its caller. After an error that will not pass by itself, or several answers in
// a row that come too late, nobody asks the server any more but a probe, at growing intervals.
package link

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/resp"
	"github.com/keystile/keystile/storage/counters/redis/internal/servers"
)

// Config of a Link.
type Config struct {
	Servers servers.Config
	Mark    func(i int) string // the i-th key of a mark
	Marker  string             // the script that reads or makes a mark
	Timeout time.Duration      // of an act
	Log     *slog.Logger
}

// Script is text that the server runs, and what it knows it by.
type Script struct{ text, sum string }

// NewScript makes a Script.
func NewScript(text string) Script {
	sum := sha1.Sum([]byte(text))
	return Script{text, hex.EncodeToString(sum[:])}
}

// ErrDown says that the server is known not to answer.
var ErrDown = errors.New("the server is away")

const (
	late         = 3 // answers in a row that come too late are too many
	checkEvery   = time.Second
	firstProbe   = 100 * time.Millisecond
	slowestProbe = 250 * time.Millisecond
	steady       = 10 * time.Second // who falls again sooner is probed more slowly
	markLives    = 72 * time.Hour
	marks        = 64 // of a cluster: that a master has none of them is very unlikely
)

// Link is a connection. Make it with Start.
type Link struct {
	c      Config
	start  time.Time
	client atomic.Pointer[servers.Client] // nil: there is none yet
	up     atomic.Bool
	late   atomic.Int32
	back   atomic.Int64 // when the counts there began to be whole again, since start; 0: they always were
	seed   atomic.Pointer[[16]byte]
	counts counts

	mu      sync.Mutex
	since   time.Time // of the state
	lost    error     // why it is down
	version string
	marks   [marks]string // what the masters are known by; "": not yet

	fell chan struct{} // the server fails
	look chan struct{} // it may have lost its counts
	stop context.CancelFunc
	done chan struct{}
}

// Start makes a Link, connected if the server answers now.
func Start(ctx context.Context, c Config) *Link {
	own, stop := context.WithCancel(context.Background())
	l := &Link{c: c, start: time.Now(), since: time.Now(), stop: stop, fell: make(chan struct{}, 1),
		look: make(chan struct{}, 1), done: make(chan struct{})}
	l.c.Servers.Dialled = l.dialled
	err := l.connect(ctx, false)
	if err != nil {
		l.lost = err
		l.c.Log.Warn("redis: the server does not answer; this node counts alone, with its share of each limit", "error", err)
	}
	go l.run(own)
	return l
}

// Close ends the Link.
func (l *Link) Close() {
	l.stop()
	<-l.done
	l.up.Store(false)
	if old := l.client.Swap(nil); old != nil {
		old.Close()
	}
}

// dialled has each new connection of a server that is up looked into at once: it may have been started again.
func (l *Link) dialled() {
	if l.up.Load() {
		signal(l.look)
	}
}

// Up reports whether the server is asked.
func (l *Link) Up() bool { return l.up.Load() }

// Returning reports whether the server has come back, or lost its counts, within a time.
func (l *Link) Returning(within time.Duration) bool {
	at := l.back.Load()
	return at > 0 && time.Since(l.start)-time.Duration(at) < within
}

// Seed is the secret that nodes share; nil before the server has been reached.
func (l *Link) Seed() *[16]byte { return l.seed.Load() }

// Do runs a script. Its effect is unknown if there is an error other than ErrDown.
func (l *Link) Do(s Script, keys, args []string) ([]int64, error) {
	client := l.client.Load()
	if client == nil || !l.up.Load() {
		return nil, ErrDown
	}
	began := time.Now()
	answer, err := s.run(client, began.Add(l.c.Timeout), keys, args)
	l.counts.note(err, time.Since(began))
	if err == nil {
		l.late.Store(0)
		return answer, nil
	}
	l.failed(client, err)
	return nil, err
}

// run names the script to a server, which is sent its text if it has not got it.
func (s Script) run(client *servers.Client, by time.Time, keys, args []string) ([]int64, error) {
	command := make([]string, 0, 3+len(keys)+len(args))
	command = append(append(append(command, "EVALSHA", s.sum, strconv.Itoa(len(keys))), keys...), args...)
	answer, err := client.Do(by, keys[0], command...)
	if said := resp.Error(""); errors.As(err, &said) && strings.HasPrefix(string(said), "NOSCRIPT") {
		command[0], command[1] = "EVAL", s.text
		answer, err = client.Do(by, keys[0], command...)
	}
	if err != nil {
		return nil, err
	}
	return answer.Ints()
}

// failed judges what an error says about the server.
func (l *Link) failed(of *servers.Client, err error) {
	switch kind := kindOf(err); {
	case kind == actAlone:
		return
	case kind == tooLate && l.late.Add(1) < late:
		return
	}
	if l.client.Load() != of || !l.up.CompareAndSwap(true, false) {
		return
	}
	l.mu.Lock()
	l.since, l.lost = time.Now(), err
	l.mu.Unlock()
	l.c.Log.Warn("redis: the server fails; this node counts alone, with its share of each limit", "error", err)
	signal(l.fell)
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func (l *Link) run(ctx context.Context) {
	defer close(l.done)
	pause, rose := firstProbe, time.Now()
	for {
		wait := checkEvery
		if !l.up.Load() {
			wait = pause
		}
		select {
		case <-ctx.Done():
			return
		case <-l.fell:
			if time.Since(rose) > steady {
				pause = firstProbe
			}
			continue
		case <-l.look:
		case <-time.After(wait):
		}
		if l.up.Load() {
			l.check(ctx)
			continue
		}
		if err := l.connect(ctx, true); err != nil {
			pause = min(2*pause, slowestProbe)
			continue
		}
		rose = time.Now()
		l.c.Log.Info("redis: the server answers again; limits are counted together")
	}
}

// connect makes a new client, whose connections lead to the present master, and has it prove itself.
func (l *Link) connect(ctx context.Context, again bool) error {
	client, err := servers.Open(ctx, l.c.Servers)
	if err != nil {
		return err
	}
	for range 3 { // one quick answer is luck
		if err = l.readMarks(ctx, client); err != nil {
			client.Close()
			return err
		}
	}
	version := versionOf(client)
	l.mu.Lock()
	l.since, l.lost, l.version = time.Now(), nil, version
	l.mu.Unlock()
	if old := l.client.Swap(client); old != nil {
		old.Close()
	}
	l.late.Store(0)
	if again {
		l.back.Store(int64(time.Since(l.start)))
	}
	l.up.Store(true)
	return nil
}
