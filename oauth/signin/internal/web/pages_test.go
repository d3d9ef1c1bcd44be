package web

import (
	"strings"
	"testing"
	"time"
)

func TestLockedPageSaysHowLong(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		time.Second: "Wait a few seconds", 11 * time.Second: "Wait a minute", time.Minute: "Wait a minute",
		61 * time.Second: "Wait 2 minutes", 15 * time.Minute: "Wait 15 minutes",
	} {
		if got := waitText("en", wait); !strings.Contains(got, want) {
			t.Errorf("waitText(%v) = %q, want %q in it", wait, got, want)
		}
	}
}
