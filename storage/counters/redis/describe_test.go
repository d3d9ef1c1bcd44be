package redis

import (
	"net/url"
	"testing"
	"time"
)

func TestCountersSayWhereTheyAreAndNothingSecret(t *testing.T) {
	for address, want := range map[string]string{
		"redis://127.0.0.1:1":                                        "127.0.0.1:1",
		"redis://app:sesame@127.0.0.1:1/3?protocol=2":                "127.0.0.1:1/3",
		"redis://:sesame@127.0.0.1:1?addr=127.0.0.1:2":               "127.0.0.1:1,127.0.0.1:2",
		"redis://a:sesame@127.0.0.1:1?master_set=primary&timeout=2s": "primary (127.0.0.1:1)",
		"unix:///nowhere.sock":                                       "/nowhere.sock",
	} {
		began := time.Now()
		c := openAt(t, address, Options{})
		kind, version, at := c.Describe()
		if kind != "Redis" || version != "" || at != want {
			t.Errorf("%s is %q %q at %q, want a Redis at %q", address, kind, version, at, want)
		}
		if now, since := c.Reached(); now || since.Before(began) {
			t.Errorf("%s is reached: %t, since %v", address, now, since)
		}
	}
}

func TestCountersSayWhoCountsAndSinceWhenNot(t *testing.T) {
	n := nodes(t, 1, 0)[0]
	kind, version, _ := n.Describe()
	if kind != "Redis" && kind != "Valkey" || version == "" || version[0] < '1' || version[0] > '9' {
		t.Errorf("who counts is %q %q", kind, version)
	}
	if now, since := n.Reached(); !now || since.IsZero() {
		t.Errorf("reached: %t, since %v", now, since)
	}
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, at := open(t, Options{}).Describe(); at != u.Host {
		t.Errorf("it is at %q, want %q", at, u.Host)
	}
	cut := time.Now()
	n.proxy.cut()
	n.Limiter().Allow(ctx, "app", 100, time.Now())
	n.lines.wait(t, alone)
	if now, since := n.Reached(); now || since.Before(cut) {
		t.Errorf("after the server has gone it is reached: %t, since %v, and it went at %v", now, since, cut)
	}
}
