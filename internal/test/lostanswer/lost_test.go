package lostanswer_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
)

func TestWhicheverAnswerIsLostClientsAreToldTheTruth(t *testing.T) { lose(t, false) }

func lose(t *testing.T, stay bool) {
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // most of the time is the database's
			direct, schema := database.URL(t, database.Direct), database.Schema(t)
			w, through := newWire(t, direct)
			shop := newUpstream(t)
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(t, w, through, direct, schema, shop)
				h.once(f, 0, false) // so that caches hold what they will
				n := 1
				for ; h.once(f, n, stay); n++ {
					if t.Failed() {
						t.Fatalf("answer %d was lost", n)
					}
				}
				fmt.Printf("note: %s: %d answers of the database, %d requests answered 503\n", f.name, n-1, h.refused)
				if n < 2 {
					t.Error("no answer was lost: nothing is tested")
				}
			})
		})
	}
}

// once carries out a flow and reports whether its nth answer came to be lost; 0: none is.
func (w *world) once(f flow, n int, stay bool) (lost bool) {
	do := f.begin(w)
	time.Sleep(settled)
	w.wire.lose(n, stay)
	check := do()
	w.wire.heal()
	time.Sleep(settled)
	lost = w.wire.stop()
	time.Sleep(settled)
	w.checkTrail()
	check()
	return lost
}

// settled is when what waits in memory has been stored, after a failure too.
const settled = 3 * time.Second

// checkTrail checks that the audit trail has no gap and nothing twice.
func (w *world) checkTrail() {
	w.Helper()
	for full := true; full; {
		page, err := w.sees.Records(w.Context(), w.read, driver.Page)
		fatal(w, err)
		for _, r := range page {
			if r.Seq != w.read+1 {
				w.Errorf("after the record %d comes %d", w.read, r.Seq)
			}
			if twice := w.trail[string(r.Data)]; twice > 0 {
				w.Errorf("the record %d stands again as %d: %s", twice, r.Seq, r.Data)
			}
			w.read, w.trail[string(r.Data)] = r.Seq, r.Seq
		}
		full = len(page) == driver.Page
	}
	if given, err := w.sees.Appended(w.Context()); err != nil || given != w.read {
		w.Errorf("%d Seqs were given, and %d records are there: %v", given, w.read, err)
	}
}

// noted checks that an act stands on the audit trail, once.
func (w *world) noted(act string) {
	w.Helper()
	n := 0
	for record := range w.trail {
		if strings.Contains(record, act) {
			n++
		}
	}
	if n != 1 {
		w.Errorf("%q stands on the trail %d times", act, n)
	}
}
