package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// promised are the writes that are on the trail before they are answered, with the kind of the
// event; "": any.
var promised = map[string]string{
	revokeAccess:   event.Revocation,
	revokeFamily:   event.Revocation,
	takeBack:       event.Revocation,
	signOut:        "",
	signOutAll:     event.Revocation,
	createApp:      event.Admin,
	rotateSecret:   event.Admin,
	createUser:     event.Admin,
	disableUser:    event.Admin,
	enableUser:     event.Admin,
	changeValue:    event.Admin,
	makeOrder:      event.Admin,
	approveOrder:   event.Admin,
	rejectOrder:    event.Admin,
	cancelOrder:    event.Admin,
	setTier:        event.Admin,
	changePassword: event.Account,
	register:       event.Registration,
	replace:        event.Registration,
	remove:         event.Registration,
}

// trail remembers what the audit trail owes, and how far it has been read.
type trail struct {
	mu       sync.Mutex
	owed     map[row]int // acknowledged and not yet looked for
	read     uint64      // the last Seq
	verified uint64      // records at the last Verify
	heads    []audit.Head

	rows, verifies int // that were found; all
}

// row is an event by its kind and its request id, or the detail of an admin command, which
// has no id.
type row struct{ kind, proof string }

func newTrail() *trail { return &trail{owed: map[row]int{}} }

// owe notes what must be on the trail by now.
func (t *trail) owe(what, proof string) {
	kind, promised := promised[what]
	if !promised {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owed[row{kind, proof}]++
}

// check reads what is new and looks for what is owed; then the chains are verified.
func (t *trail) check(l *life) error {
	seen := map[row]int{}
	for {
		page, err := l.Records(context.Background(), t.read, driver.Page)
		if err != nil {
			return err
		}
		for _, r := range page {
			var e event.Event
			if err := json.Unmarshal(r.Data, &e); err != nil {
				l.journal.violated(nil, "the trail has what is no event: %q", r.Data)
			}
			proof := e.RequestID
			if proof == "" {
				proof, _, _ = strings.Cut(e.Detail, " by ") // what was done, and to what
			}
			seen[row{e.Kind, proof}]++
			seen[row{"", proof}]++
			t.read = r.Seq
		}
		if len(page) < driver.Page {
			break
		}
	}
	for r, n := range t.owed {
		if seen[r] < n {
			l.journal.violated(nil, "%d times an act was answered that the trail has %d times: kind %q, %s", n, seen[r], r.kind,
				r.proof)
		}
		t.rows += n
	}
	clear(t.owed)
	if t.read < small || t.read > t.verified+t.verified/4 {
		return t.verify(l)
	}
	return nil
}

// small is a trail that is verified after each kill; of a larger one all is read whenever
// it has grown by a quarter, and at the end.
const small = 20_000

// verify checks all chains, and that the heads of the last time are still there.
func (t *trail) verify(l *life) error {
	report, err := audit.Verify(context.Background(), l, t.heads...)
	if err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		l.journal.violated(nil, "%v", err)
	}
	t.heads, t.verified = report.Heads, t.read
	t.verifies++
	return nil
}

// Records reads the trail through the admin socket.
func (l *life) Records(_ context.Context, after uint64, n int) (page []driver.Record, err error) {
	return page, l.trailPart(&page, "audit records", strconv.FormatUint(after, 10), strconv.Itoa(n))
}

// Appended returns the last Seq that was given, so that a tail that is gone is noticed.
func (l *life) Appended(context.Context) (uint64, error) {
	var state struct {
		Appended uint64 `json:"appended"`
	}
	err := l.trailPart(&state, "audit state")
	return state.Appended, err
}

// Checkpoint returns none: nothing of a campaign is old enough to be removed.
func (l *life) Checkpoint(context.Context) (storage.Checkpoint, error) {
	return storage.Checkpoint{}, nil
}

// trailPart runs a command of the admin socket and reads its answer.
func (l *life) trailPart(into any, command string, words ...string) error {
	out, err := l.run(command, nil, words...)
	if err == nil && out.Error != "" {
		err = fmt.Errorf("%s: %s", command, out.Error)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out.Output), into)
}
