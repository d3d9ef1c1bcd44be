package otp

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// A record of an older version counts for the address, and what cannot be read for nothing.
func TestTheCountOfMailsReadsWhatOlderVersionsWrote(t *testing.T) {
	now := time.Now().UTC()
	var words []string
	for i := range 20 {
		words = append(words, fmt.Sprint(now.Add(-time.Minute*time.Duration(40-i)).UnixNano()))
	}
	for text, want := range map[string]time.Duration{
		"":                           0,
		strings.Join(words, " "):     20 * time.Minute,
		strings.Join(words[1:], " "): 0,
		strings.Join(words[1:], " ") + " x@y @ 1@ @@": 0,
	} {
		if got := parseSent(text, now).wait(networkRequester(network.Of(netip.MustParseAddr("192.0.2.1"))), now); got != want {
			t.Errorf("%q: wait %v, want %v", text, got, want)
		}
	}
}

// Somebody has asked for a code while the clock was a year ahead; then it was set right.
func TestAMailOfTheFutureKeepsNobodyWaiting(t *testing.T) {
	now := time.Date(2026, 5, 20, 10, 15, 0, 0, time.UTC)
	for _, c := range []struct {
		ahead time.Duration
		want  time.Duration
	}{
		{400 * 24 * time.Hour, 0}, {2 * time.Minute, 0},
		{30 * time.Second, 90 * time.Second}, // another machine's clock
		{-30 * time.Second, 30 * time.Second},
		{-time.Minute, 0},
	} {
		text := sentEmails{{now.Add(c.ahead), "192.0.2.1/32"}}.String()
		if got := parseSent(text, now).wait("192.0.2.1/32", now); got != c.want {
			t.Errorf("with a mail %v ahead, the next one waits %v, want %v", c.ahead, got, c.want)
		}
	}
}

func TestAFewStrangersLeaveCodesForNewcomers(t *testing.T) {
	const newcomer = "192.0.2.7/32"
	for name, from := range map[string]func(i int) string{
		"four addresses":           func(i int) string { return fmt.Sprintf("198.51.100.%d/32", i%4) },
		"fourteen addresses":       func(i int) string { return fmt.Sprintf("198.51.100.%d/32", i%14) },
		"a /48 with many networks": func(i int) string { return fmt.Sprintf("2001:db8:0:%x::/64", i) },
	} {
		now, sent := time.Now().UTC(), sentEmails(nil)
		for i := range 50 * 60 { // each asks every minute or more often, for an hour
			at := now.Add(time.Duration(i) * time.Second)
			if sent = parseSent(sent.String(), at); sent.wait(from(i), at) == 0 {
				sent = append(sent, sentEmail{at, from(i)})
			}
		}
		now = now.Add(50 * time.Minute)
		if wait := sent.wait(newcomer, now); wait > 0 || len(sent) < perRepeats {
			t.Errorf("%s: after %d emails a newcomer waits %v", name, len(sent), wait)
		}
		if sent.wait(from(0), now) == 0 {
			t.Errorf("%s: they go on", name)
		}
	}
}
