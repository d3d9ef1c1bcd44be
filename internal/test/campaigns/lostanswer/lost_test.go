package lostanswer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
)

// The answer to any one statement is lost: no client hears of it, and everything happens once.
func TestWhicheverAnswerIsLostNobodyHasToKnow(t *testing.T) { lose(t, false) }

// The answer is lost, and the database stays out of reach for longer than a call may take: clients are
// told 503 and when to try again, and what they repeat happens once.
func TestDatabaseThatStaysAwayIsOwnedUpTo(t *testing.T) { lose(t, true) }

// Several answers get lost, those among them by which the service finds out what became of a call: what clients
// are told is right all the same, and everything happens once.
//
// LOST_ANSWERS is how many ways in which that can happen are drawn for each flow, 20 by default.
func TestVerdictSurvivesSeveralLostAnswers(t *testing.T) {
	draws := 20
	if set := os.Getenv("LOST_ANSWERS"); set != "" {
		var err error
		draws, err = strconv.Atoi(set)
		fatal(t, err)
	}
	seed := time.Now().UnixNano()
	play(t, func(t *testing.T, h *world, f flow) {
		drawn := rand.New(rand.NewPCG(uint64(seed), 0))
		h.once(f, false) // what is cached then is not asked for again
		h.once(f, false)
		answers, cuts := h.wire.Came(), 0
		for range draws {
			gaps := []int{1 + drawn.IntN(answers), 1 + drawn.IntN(recovery)}
			if drawn.IntN(2) == 0 {
				gaps = append(gaps, 1+drawn.IntN(recovery))
			}
			cuts += h.once(f, false, gaps...)
			if t.Failed() {
				t.Fatalf("the answers %v were lost (seed %d)", gaps, seed)
			}
		}
		fmt.Printf("note: %s: %d answers lost in %d ways (seed %d), %d requests answered 503\n", f.name, cuts, draws, seed,
			h.refused)
		if cuts < draws/2 { // a flow may end before the answer comes that was drawn
			t.Errorf("%d answers were lost", cuts)
		}
	})
}

// recovery bounds how many answers it takes to connect anew and find out what became of a call.
const recovery = 8

// lose plays each flow as often as it has answers of the database, and has another one lost each time.
func lose(t *testing.T, stay bool) {
	play(t, func(t *testing.T, h *world, f flow) {
		n := 1
		for ; h.once(f, stay, n) > 0; n++ {
			if t.Failed() {
				t.Fatalf("answer %d was lost", n)
			}
		}
		fmt.Printf("note: %s: %d answers of the database, %d requests answered 503\n", f.name, n-1, h.refused)
		if n < 5 {
			t.Errorf("%d answers were lost: that is not the flow", n-1)
		}
		if stay != (h.refused > 0) {
			t.Errorf("%d requests were answered 503", h.refused)
		}
	})
}

// play has each flow tried in a service of its own, whose caches hold what they will, and verifies the trail.
func play(t *testing.T, try func(t *testing.T, h *world, f flow)) {
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // most of the time is the database's
			direct, schema := database.URL(t, database.Direct), database.Schema(t)
			w, through := newWire(t, direct)
			shop := newUpstream(t)
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(t, w, through, direct, schema, shop)
				h.once(f, false)
				try(t, h, f)
				report, err := audit.Verify(t.Context(), h.service.Store)
				if fatal(t, err); report.Broken > 0 {
					t.Errorf("the audit trail is broken: %+v", report)
				}
			})
		})
	}
}

// once carries out a flow while answers get lost, and returns how many were.
func (w *world) once(f flow, stay bool, gaps ...int) (lost int) {
	do := f.begin(w)
	time.Sleep(settled / 2)
	w.wire.lose(stay, gaps...)
	check := do()
	w.wire.heal()
	time.Sleep(settled)
	lost = w.wire.End()
	w.wire.heal()
	if stay {
		time.Sleep(settled)
	}
	w.checkTrail(stay)
	check()
	return lost
}

// settled is when what waits in memory has been stored, after a failure too.
const settled = 3 * time.Second

// checkTrail checks that the audit trail has no gap, and nothing twice. After an outage some records may
// stand again: whoever reads the trail knows them by their numbers (audit.Verify).
func (w *world) checkTrail(again bool) {
	w.Helper()
	given, err := w.sees.Appended(w.Context()) // first: one more may come while the others are read
	fatal(w, err)
	for full := true; full; {
		page, err := w.sees.Records(w.Context(), w.read, driver.Page)
		fatal(w, err)
		for _, r := range page {
			if r.Seq != w.read+1 {
				w.Errorf("after the record %d comes %d", w.read, r.Seq)
			}
			if twice := w.trail[string(r.Data)]; twice > 0 && !again {
				w.Errorf("the record %d stands again as %d: %s", twice, r.Seq, r.Data)
			}
			w.read, w.trail[string(r.Data)] = r.Seq, r.Seq
		}
		full = len(page) == driver.Page
	}
	if w.read < given {
		w.Errorf("%d Seqs were given, and %d records are there", given, w.read)
	}
}

// noted checks that an act stands on the audit trail, once. Where the outcome was unknown, which the
// trail has as a request that was answered 503, it may stand there only as that.
func (w *world) noted(act string, by answer) {
	w.Helper()
	n := 0
	for record := range w.trail {
		if strings.Contains(record, act) {
			n++
		}
	}
	if n != 1 && (n > 0 || by.refused == 0) {
		w.Errorf("%q stands on the trail %d times", act, n)
	}
}
