package config

import (
	"slices"
	"testing"
	"time"
)

func TestNodeOfSeveralDrainsForASecondUnlessItIsToldOtherwise(t *testing.T) {
	const database = "postgres://keystile@db.internal/keystile"
	for _, c := range []struct {
		url, asked, text, source string
		want                     time.Duration
	}{
		{"", "", "0", "default: no other node shares the store", 0},
		{"bolt:", "", "0", "default: no other node shares the store", 0},
		{database, "", "1s", "default: several nodes can share the store", time.Second},
		{database, "0", "0", "environment KEYSTILE_DRAIN", 0},
		{database, "5s", "5s", "environment KEYSTILE_DRAIN", 5 * time.Second},
		{"", "5s", "5s", "environment KEYSTILE_DRAIN", 5 * time.Second},
	} {
		got := load(t, []string{"KEYSTILE_STORAGE_URL=" + c.url, "KEYSTILE_DRAIN=" + c.asked})
		shown := got.Values[slices.IndexFunc(got.Values, func(v Value) bool { return v.Key == "drain" })]
		if got.Drain != c.want || shown.Text != c.text || shown.Source != c.source {
			t.Errorf("storage_url %q, drain %q: %v, shown as %q from %q", c.url, c.asked, got.Drain, shown.Text, shown.Source)
		}
	}
}
