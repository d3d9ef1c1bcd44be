package webhook

import (
	"testing"
	"testing/synctest"
	"time"
)

// A delivery was put off while the clock was a year ahead; then it was set right.
func TestDeliveryPutOffByAClockThatWasAheadIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.change("m", "capability.updated")
		now := time.Now()
		for off, due := range map[time.Duration]int{400 * 24 * time.Hour: 1, 15 * time.Hour: 0, 0: 1} {
			d := h.queued("m")[0]
			d.NextAt = now.Add(off)
			if _, err := h.store.SaveDelivery(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			list, err := h.store.DueDeliveries(t.Context(), now, 10)
			if err != nil || len(list) != due || due == 1 && list[0].WaitsAt(now) {
				t.Errorf("put off by %v, %d are due, %v; want %d", off, len(list), err, due)
			}
		}
	})
}
