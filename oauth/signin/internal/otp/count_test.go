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
func TestCountOfMailsReadsWhatOlderVersionsWrote(t *testing.T) {
	now := time.Now().UTC()
	var words []string
	for i := range 130 {
		words = append(words, fmt.Sprint(now.Add(-time.Second*time.Duration(2400-i)).UnixNano()))
	}
	for text, want := range map[string]time.Duration{
		"":                           0,
		strings.Join(words, " "):     20 * time.Minute,
		strings.Join(words[1:], " "): 0,
		strings.Join(words[1:], " ") + " x@y @ 1@ @@": 0,
	} {
		if got := parseSent(text, now).wait(networkRequester(network.Of(netip.MustParseAddr("192.0.2.1"))),
			now); got != want {
			t.Errorf("%q: wait %v, want %v", text, got, want)
		}
	}
}

// Somebody has asked for a code while the clock was a year ahead; then it was set right.
func TestMailOfTheFutureKeepsNobodyWaiting(t *testing.T) {
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

// A person in a new browser asks while others have asked for as many as they can get, for an hour.
func TestStrangersThatAreFewLeaveCodesForNewcomers(t *testing.T) {
	const far, near, beside = "192.0.2.7/32", "198.51.7.7/32", "198.51.100.99/32"
	const far6, near6 = "2001:dead::/64", "2001:db8:7::/64"
	for name, c := range map[string]struct {
		from      func(i int) string
		most      int // mails of an hour
		newcomers []string
	}{
		"four addresses":        {v4("198.51.100.%d/32", 4), 15, []string{far, near, beside}},
		"fourteen addresses":    {v4("198.51.100.%d/32", 14), 16, []string{far, near, beside}},
		"a /24":                 {v4("198.51.100.%d/32", 256), 20, []string{far, near}},
		"four /24 in two /16":   {sites4, 20, []string{far, near}},
		"a /16":                 {provider4, 25, []string{far}},
		"a /48":                 {v6("2001:db8:0:%x::/64"), 20, []string{far, far6, near6}},
		"five /48 in five /32":  {sites6, 20, []string{far, near6}},
		"a /32":                 {v6("2001:db8:%x::/64"), 25, []string{far, far6}},
		"100 in 25 /24":         {hundred4, 25, []string{far}},
		"100 /16 and five /32":  {crowd(100), 129, []string{far, far6}},
		"more than a hundred":   {crowd(200), 130, nil},
		"addresses not known":   {func(int) string { return requesterElsewhere }, 5, []string{far}},
		"networks, one unknown": {v4("198.51.100.%d/32", 256), 20, []string{requesterElsewhere}},
	} {
		now, sent, had := time.Now().UTC(), sentEmails(nil), 0
		for i := range 20 * 60 * 50 { // twenty a second, for nearly an hour
			at := now.Add(time.Duration(i) * 50 * time.Millisecond)
			if i%20 == 0 {
				sent = parseSent(sent.String(), at)
			}
			if sent.wait(c.from(i), at) == 0 {
				sent, had = append(sent, sentEmail{at, c.from(i)}), had+1
			}
		}
		now = now.Add(50 * time.Minute)
		for _, newcomer := range c.newcomers {
			if wait := sent.wait(newcomer, now); wait > 0 {
				t.Errorf("%s: after %d emails a newcomer, %s, waits %v", name, len(sent), newcomer, wait)
			}
		}
		if sent.wait(c.from(0), now) == 0 {
			t.Errorf("%s: they go on", name)
		}
		if had > c.most {
			t.Errorf("%s: %d emails in an hour, want at most %d", name, had, c.most)
		}
	}
}

func v4(format string, n int) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i%n) }
}

func v6(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i*251%65536) }
}

func sites4(i int) string { return fmt.Sprintf("198.%d.%d.%d/32", 51+i%2, i/2%2, i/4%256) }

func provider4(i int) string { return fmt.Sprintf("198.51.%d.%d/32", i%256, i/256%256) }

func hundred4(i int) string { return fmt.Sprintf("198.51.%d.%d/32", i%25, i/25%4) }

func sites6(i int) string { return fmt.Sprintf("2001:%x:0:%x::/64", 0xdb8+i%5, i*251%65536) }

// crowd is of so many /16, and of five /48 in five /32.
func crowd(n int) func(int) string {
	return func(i int) string {
		if i%2 == 0 {
			return sites6(i / 2)
		}
		return fmt.Sprintf("%d.51.100.1/32", 1+i/2%n)
	}
}

// The announced wait is exact: then one is sent, and a second before none is.
func TestWaitForAMailIsTrue(t *testing.T) {
	now, sent := time.Now().UTC(), sentEmails(nil)
	for i := range 30 {
		at := now.Add(time.Duration(i) * time.Minute)
		if who := fmt.Sprintf("198.51.100.%d/32", i); sent.wait(who, at) == 0 {
			sent = append(sent, sentEmail{at, who})
		}
	}
	now = now.Add(30 * time.Minute)
	for who, want := range map[string]time.Duration{
		"198.51.100.0/32":  30 * time.Minute, // until its own is an hour ago, and nineteen others are left
		"198.51.100.9/32":  35 * time.Minute, // until fourteen are left
		"198.51.100.99/32": 30 * time.Minute, // until nineteen are
		"198.51.7.7/32":    0, "192.0.2.7/32": 0,
	} {
		wait := sent.wait(who, now)
		if wait != want {
			t.Errorf("%s waits %v, want %v", who, wait, want)
		}
		if wait > 0 && (sent.wait(who, now.Add(wait-time.Second)) != time.Second || sent.wait(who, now.Add(wait)) != 0) {
			t.Errorf("%s: the wait of %v is not true", who, wait)
		}
	}
}
