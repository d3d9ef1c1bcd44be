package powercut

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// promise is something that was acknowledged and must be there afterwards.
type promise struct {
	what  string
	id    string // of the request, whose answer is in the trace; "": done is when its answer was here
	done  int64
	era   int // 0: it is in the backup that is restored at the end, 1: it is not
	holds func(*world) error

	refused string // a token that no server may take any more, "" if none
	bearer  bool   // it is an access token
}

// charge is one call that is counted.
type charge struct {
	sent int64
	id   string
}

// history holds what the clients know of a recording.
type history struct {
	*recorder
	programs
	mu        sync.Mutex
	promises  []promise
	charges   []charge
	era       int
	bearer    string                     // whose calls are charged
	bearerID  string                     // the request that brought it
	restoring struct{ begin, end int64 } // times; 0: not
	later     string                     // an application that a restore takes away
	backup    string
	left      []leftover // what killed processes left, in their order
}

// programs are the ways in which one program is built, and how it is started.
type programs struct {
	plain   string
	slow    string   // it keeps calls in the journal for a minute
	written string   // so does this, which writes each of them
	args    []string // of each serve, behind those that it always has
}

// unlogged are the arguments of a program that writes tokens into the database at once.
var unlogged = []string{"--token-log=false"}

func (h *history) promise(p promise) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.era = h.era
	if p.id == "" {
		p.done = time.Now().UnixNano()
	}
	h.promises = append(h.promises, p)
}

// step is one part of a recording.
type step func(context.Context, *history) error

// everything is the steps of the whole recording.
var everything = []step{busy(6, 12), charging, counting, writing, counting, rekey, backup, busy(2, 3), restore}

func record(ctx context.Context, dir string, p programs, steps ...step) (*history, error) {
	root := filepath.Join(dir, "disk")
	h := &history{recorder: &recorder{root: root, data: filepath.Join(root, "data"), dir: dir}, programs: p}
	if err := makeFolder(root); err != nil {
		return nil, err
	}
	for _, step := range steps {
		if err := step(ctx, h); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// busy is a life of a server in which clients open grants, rotate, revoke, and make things.
func busy(clients, rounds int) step {
	return func(ctx context.Context, h *history) error {
		return h.live(ctx, h.plain, syscall.SIGTERM, func(c *serving.Client) error {
			var all sync.WaitGroup
			errs := make(chan error, clients+2)
			for range clients {
				all.Go(func() { errs <- h.hold(c, rounds) })
			}
			all.Go(func() { errs <- h.register(c, rounds) })
			all.Go(func() { errs <- h.call(c, time.Second) })
			all.Wait()
			close(errs)
			return first(errs)
		})
	}
}

// charging is a life whose calls are in the journal alone: this program sends them to the store
// once a minute. It is killed before.
func charging(ctx context.Context, h *history) error {
	return h.live(ctx, h.slow, syscall.SIGKILL, func(c *serving.Client) error { return h.call(c, 5*time.Second) })
}

// writing is charging without a mapping.
func writing(ctx context.Context, h *history) error {
	return h.live(ctx, h.written, syscall.SIGKILL, func(c *serving.Client) error { return h.call(c, 5*time.Second) })
}

// counting is a life that begins with what the last one has left in the journal.
func counting(ctx context.Context, h *history) error {
	return h.live(ctx, h.plain, syscall.SIGTERM, func(c *serving.Client) error { return h.call(c, 1500*time.Millisecond) })
}

func (h *history) live(ctx context.Context, binary string, end syscall.Signal, work func(*serving.Client) error) error {
	s, err := h.serve(ctx, binary, h.args)
	if err != nil {
		return err
	}
	c, err := serving.NewClient(s.Address, h.data)
	if err == nil {
		err = h.prepare(c)
	}
	if err == nil {
		err = work(c)
		c.Close()
	}
	if err != nil {
		s.End(syscall.SIGKILL)
		return fmt.Errorf("%w\n%s", err, s.Log)
	}
	return errors.Join(s.End(end), h.look())
}

// leftover is a file of the journal between two lives.
type leftover struct {
	at   int64 // time
	path string
	data []byte
}

// look keeps what a life has left in the journal: the trace is held to it, because stores into a
// mapping are in no trace of themselves.
func (h *history) look() error {
	paths, err := filepath.Glob(filepath.Join(h.data, "usage", "*"))
	for _, path := range paths {
		data, also := os.ReadFile(path)
		err = errors.Join(err, also)
		h.left = append(h.left, leftover{time.Now().UnixNano(), path, data})
	}
	return err
}

func (h *history) prepare(c *serving.Client) error {
	if h.bearer == "" {
		h.promise(promise{what: "the first run", holds: func(w *world) error {
			if p, err := serving.ReadFirstRun(w.data); err != nil || p != c.FirstRun {
				return fmt.Errorf("first-run.json says %v, %v", p, err)
			}
			return w.app(c.FirstRun.App.ID)
		}})
		var set any
		// no rate is to slow the clients down
		if err := c.Run("app set", &set, []string{"tier", "enterprise"}, c.FirstRun.App.ID); err != nil {
			return err
		}
	}
	if err := c.SignIn(); err != nil {
		return err
	}
	if h.bearer == "" {
		id, secret, err := h.makeApp(c)
		if err != nil {
			return err
		}
		a, err := serving.Granted(c.Post("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id},
			"client_secret": {secret}}))
		if err != nil {
			return err
		}
		h.bearer, h.bearerID = a.Reply().Access, a.ID
	}
	return nil
}

// rekey changes the master key while nothing runs.
func rekey(ctx context.Context, h *history) error {
	said, err := h.run(ctx, h.plain, "key", "rekey", "--json")
	if err != nil {
		return err
	}
	var changed struct {
		Key string `json:"master_key"`
	}
	if err := json.Unmarshal([]byte(said), &changed); err != nil {
		return err
	}
	h.promise(promise{what: "the change of the master key",
		holds: func(w *world) error { return w.sealedWith(changed.Key) }})
	return nil
}

func backup(ctx context.Context, h *history) error {
	h.backup = filepath.Join(h.root, "backup.db")
	if _, err := h.run(ctx, h.plain, "backup", h.backup); err != nil {
		return err
	}
	h.promise(promise{what: "the backup", holds: func(w *world) error { return w.hasBackup() }})
	h.era = 1
	return nil
}

// restore puts the backup back: what was acknowledged since is gone from then on.
func restore(ctx context.Context, h *history) error {
	h.restoring.begin = time.Now().UnixNano()
	if _, err := h.run(ctx, h.plain, "restore", h.backup); err != nil {
		return err
	}
	h.restoring.end = time.Now().UnixNano()
	return nil
}

func first(errs <-chan error) error {
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
