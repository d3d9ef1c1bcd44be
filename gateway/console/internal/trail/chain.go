package trail

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/event"
)

// longest bounds a verification.
const longest = time.Hour

// check is the verification of this node, of which there is one at a time.
type check struct {
	mu    sync.Mutex // guards what follows
	last  checked
	life  context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup
}

// checked shows a verification.
type checked struct {
	Running bool     `json:"running"`
	Began   *string  `json:"began_at"` // null: there was none since this node started
	Ended   *string  `json:"ended_at"`
	Read    uint64   `json:"records"`
	Whole   bool     `json:"whole"` // once it has ended
	Broken  uint64   `json:"broken"`
	Breaks  []string `json:"breaks"`
	Heads   []string `json:"heads"`
	Failed  bool     `json:"failed"` // the trail could not be read
}

func newCheck() *check {
	life, end := context.WithCancel(context.Background())
	return &check{life: life, end: end, last: checked{Breaks: []string{}, Heads: []string{}}}
}

func (c *check) close() {
	c.end()
	c.tasks.Wait()
}

func (c *check) state() checked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// begin starts a verification and returns how it begins. It reports whether there was none that runs.
func (c *check) begin(archive Archive) (checked, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Running || c.life.Err() != nil {
		return checked{}, false
	}
	begun := checked{Running: true, Began: adminapi.Stamp(time.Now()), Breaks: []string{}, Heads: []string{}}
	c.last = begun
	c.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(c.life, longest)
		defer cancel()
		report, err := archive.Verify(ctx, func(n int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.last.Read += uint64(n)
		})
		c.done(report, err)
	})
	return begun, true
}

func (c *check) done(report event.TrailReport, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Running, c.last.Ended, c.last.Failed = false, adminapi.Stamp(time.Now()), err != nil
	if err != nil {
		return
	}
	c.last.Read, c.last.Whole, c.last.Broken = report.Records, report.Broken == 0, report.Broken
	c.last.Breaks, c.last.Heads = append(c.last.Breaks, report.Breaks...), append(c.last.Heads, report.Heads...)
}

// chainRecord shows the state of the trail.
type chainRecord struct {
	Appended     uint64  `json:"appended"` // the Seq of the newest record
	Waiting      uint64  `json:"waiting"`
	Lost         uint64  `json:"lost"`
	Removed      uint64  `json:"removed"`
	Through      uint64  `json:"removed_through_seq"`
	RemovedUntil *string `json:"removed_until"`
	RemovedSince *string `json:"removed_since"`
	Forged       bool    `json:"checkpoint_forged"`
	Verification checked `json:"verification"`
}

// chain serves GET /api/console/audit/chain: what is known without reading the trail.
func (t *Trail) chain(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	if t.c.Archive == nil {
		return nil, noTrail
	}
	s, err := t.c.Archive.State(r.Context())
	if err != nil {
		return nil, err
	}
	return chainRecord{s.Appended, s.Waiting, s.Lost, s.Removed, s.Through, adminapi.Stamp(s.Until),
		adminapi.Stamp(s.Since),
		s.Forged, t.check.state()}, nil
}

// verify serves POST /api/console/audit/chain: it begins a verification and does not wait for it.
func (t *Trail) verify(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if t.c.Archive == nil {
		return nil, noTrail
	}
	f, err := adminapi.ReadFields(w, r)
	if err != nil {
		return nil, err
	}
	if len(f) > 0 || t.check.state().Running {
		return nil, running
	}
	if err := t.c.Recorder.Note(r.Context(), who, admin.Act{What: "audit verify", On: "trail",
		User: who.Sub}); err != nil {
		return nil, err
	}
	begun, ok := t.check.begin(t.c.Archive)
	if !ok {
		return nil, running
	}
	return begun, nil
}
