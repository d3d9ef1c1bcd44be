package powercut

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/serving"
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

// drawn numbers the users.
var drawn atomic.Int64

// charge is one call that is counted.
type charge struct {
	sent int64
	id   string
}

// history is what the clients know of a recording.
type history struct {
	*recorder
	plain, slow string // programs
	mu          sync.Mutex
	promises    []promise
	charges     []charge
	era         int
	bearer      string                     // whose calls are charged
	bearerID    string                     // the request that brought it
	restoring   struct{ begin, end int64 } // times; 0: not
	later       string                     // an application that a restore takes away
	backup      string
}

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
var everything = []step{busy(6, 12), charging, counting, rekey, backup, busy(2, 3), restore}

func record(ctx context.Context, dir, plain, slow string, steps ...step) (*history, error) {
	root := filepath.Join(dir, "disk")
	h := &history{recorder: &recorder{root: root, data: filepath.Join(root, "data"), dir: dir}, plain: plain, slow: slow}
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

// counting is a life that begins with what the last one has left in the journal.
func counting(ctx context.Context, h *history) error {
	return h.live(ctx, h.plain, syscall.SIGTERM, func(c *serving.Client) error { return h.call(c, 1500*time.Millisecond) })
}

func (h *history) live(ctx context.Context, binary string, end syscall.Signal, work func(*serving.Client) error) error {
	s, err := h.serve(ctx, binary)
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
	return s.End(end)
}

func (h *history) prepare(c *serving.Client) error {
	if h.bearer == "" {
		h.promise(promise{what: "the first run", holds: func(w *world) error {
			if p, err := serving.ReadPaper(w.data); err != nil || p != c.Paper {
				return fmt.Errorf("first-run.json says %v, %v", p, err)
			}
			return w.app(c.Paper.App.ID)
		}})
		var set any
		if err := c.Run("app set", &set, []string{"tier", "enterprise"}, c.Paper.App.ID); err != nil { // no rate is to slow the clients down
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
		a, err := serving.Granted(c.Post("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}))
		if err != nil {
			return err
		}
		h.bearer, h.bearerID = a.Reply().Access, a.ID
	}
	return nil
}

// hold opens a grant again and again, rotates its token and ends it.
func (h *history) hold(c *serving.Client, rounds int) error {
	for i := range rounds {
		code, verifier, err := c.Authorize()
		if err != nil {
			return err
		}
		a, err := c.Exchange(code, verifier)
		if err != nil {
			return err
		}
		h.exchanged(a, code)
		for range i % 4 {
			old := a.Reply()
			if a, err = c.Refresh(old.Refresh); err != nil {
				return err
			}
			h.exchanged(a, old.Refresh)
			if err := h.revoke(c, old.Access); err != nil {
				return err
			}
		}
		if i%3 == 0 {
			if err := h.endFamily(c, a.Reply().Refresh); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *history) exchanged(a serving.Answer, spent string) {
	follows := a.Reply().Refresh
	h.promise(promise{what: "an exchange", id: a.ID, refused: spent, holds: func(w *world) error { return w.exchanged(spent, follows) }})
}

func (h *history) revoke(c *serving.Client, access string) error {
	a, err := c.Revoke(access)
	if err == nil {
		h.promise(promise{what: "an access token's end", id: a.ID, refused: access, bearer: true, holds: func(w *world) error { return w.ended(serving.JTIOf(access)) }})
	}
	return err
}

func (h *history) endFamily(c *serving.Client, refresh string) error {
	a, err := c.Revoke(refresh)
	if err == nil {
		h.promise(promise{what: "a family's end", id: a.ID, refused: refresh, holds: func(w *world) error { return w.familyEnded(refresh) }})
	}
	return err
}

func (h *history) makeApp(c *serving.Client) (id, secret string, err error) {
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	err = c.Run("app create", &made, []string{"name", "Cut", "domain", "localhost", "tier", "enterprise"})
	if err == nil {
		h.promise(promise{what: "application " + made.ID, holds: func(w *world) error { return w.app(made.ID) }})
	}
	return made.ID, made.Secret, err
}

func (h *history) register(c *serving.Client, rounds int) error {
	for i := range rounds {
		id, _, err := h.makeApp(c)
		if err != nil {
			return err
		}
		if h.era == 1 {
			h.later = id
		}
		if i%6 == 0 {
			var made struct{ Sub string }
			name := fmt.Sprintf("user-%d", drawn.Add(1))
			if err := c.Run("user create", &made, []string{"username", name, "password", "a password of this test"}); err != nil {
				return err
			}
			h.promise(promise{what: "user " + name, holds: func(w *world) error { return w.user(made.Sub) }})
		}
	}
	return nil
}

// call makes charged calls for some time.
func (h *history) call(c *serving.Client, long time.Duration) error {
	for end := time.Now().Add(long); time.Now().Before(end); {
		sent := time.Now().UnixNano()
		a, err := c.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+h.bearer)
		if err != nil {
			return err
		}
		if a.Status != 200 {
			return fmt.Errorf("a call is answered %v", a)
		}
		h.charges = append(h.charges, charge{sent, a.ID})
		time.Sleep(4 * time.Millisecond) // the journal is to grow for seconds, not to megabytes
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
	h.promise(promise{what: "the change of the master key", holds: func(w *world) error { return w.sealedWith(changed.Key) }})
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
