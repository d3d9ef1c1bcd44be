package mcpbus

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestChangeThatComesWhileItIsReadIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b lag
		first := b.begin()
		if b.lacks() {
			t.Error("nothing has changed, and yet something is lacking")
		}
		b.done(first, time.Now())
		b.tell(time.Now())
		time.Sleep(9 * time.Second)
		reading := b.begin()
		b.tell(time.Now())
		time.Sleep(2 * time.Second)
		if !b.stale() {
			t.Error("eleven seconds after the first change it is believed")
		}
		b.done(reading, time.Now())
		if !b.lacks() || b.stale() {
			t.Error("the second change, of two seconds ago, is not lacking, or counts as old")
		}
		b.done(b.begin(), time.Now())
		if b.lacks() {
			t.Error("all is read, and yet something is lacking")
		}
	})
}
