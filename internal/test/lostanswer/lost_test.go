package lostanswer_test

import (
	"bytes"
	"fmt"
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
				fmt.Printf("note: %s: %d answers of the database\n", f.name, n-1)
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
	check()
	w.checkTrail()
	return lost
}

// settled is when what waits in memory has been stored, after a failure too.
const settled = 3 * time.Second

// checkTrail checks that the audit trail has no gap and nothing twice.
func (w *world) checkTrail() {
	w.Helper()
	last, seen := uint64(0), map[string]uint64{}
	for r := range w.records() {
		if r.Seq != last+1 {
			w.Errorf("after the record %d comes %d", last, r.Seq)
		}
		if twice := seen[string(r.Data)]; twice > 0 {
			w.Errorf("the record %d stands again as %d: %s", twice, r.Seq, r.Data)
		}
		last, seen[string(r.Data)] = r.Seq, r.Seq
	}
	if given, err := w.sees.Appended(w.Context()); err != nil || given != last {
		w.Errorf("%d Seqs were given, and %d records are there: %v", given, last, err)
	}
}

func (w *world) records() func(yield func(driver.Record) bool) {
	return func(yield func(driver.Record) bool) {
		for after := uint64(0); ; {
			page, err := w.sees.Records(w.Context(), after, driver.Page)
			fatal(w, err)
			for _, r := range page {
				if after = r.Seq; !yield(r) {
					return
				}
			}
			if len(page) < driver.Page {
				return
			}
		}
	}
}

// noted checks how often an act stands on the audit trail.
func (w *world) noted(act string, want int) {
	w.Helper()
	n := 0
	for r := range w.records() {
		if bytes.Contains(r.Data, []byte(act)) {
			n++
		}
	}
	if n != want {
		w.Errorf("%q stands on the trail %d times, want %d", act, n, want)
	}
}
