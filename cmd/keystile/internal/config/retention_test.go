package config

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

func TestRetentionIsBoundedInAgeAndSize(t *testing.T) {
	for _, c := range []struct {
		keep, size string
		days, MiB  int64
		says       string
	}{
		{"400d", "2GiB", 400, 2048, ""},
		{"9600h", "16MiB", 400, 16, ""},
		{"0", "0", 0, 0, ""},
		{"1d", "1024 MiB", 1, 1024, ""},
		{"23h", "2GiB", 0, 0, "it must be at least 1d"},
		{"-400d", "2GiB", 0, 0, "a number above 0 and a unit: d, h, m or s"},
		{"400", "2GiB", 0, 0, "a number above 0 and a unit: d, h, m or s"},
		{"99999d", "2GiB", 0, 0, "a number above 0 and a unit: d, h, m or s"},
		{"400d", "15MiB", 0, 0, "it must be at least 16MiB"},
		{"400d", "2", 0, 0, "a unit: KiB, MiB, GiB or TiB"},
		{"400d", "-2GiB", 0, 0, "a unit: KiB, MiB, GiB or TiB"},
		{"400d", "99999999999TiB", 0, 0, "a unit: KiB, MiB, GiB or TiB"},
	} {
		got, err := Load(cli.Args{}, []string{"KEYSTILE_AUDIT_KEEP=" + c.keep, "KEYSTILE_AUDIT_MAX_SIZE=" + c.size})
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("keep %q, max_size %q: %v, want %q", c.keep, c.size, err, c.says)
		case c.says == "" && err != nil:
			t.Errorf("keep %q, max_size %q: %v", c.keep, c.size, err)
		case err == nil && (got.AuditKeep != time.Duration(c.days)*24*time.Hour || got.AuditSize != c.MiB<<20):
			t.Errorf("keep %q is %v, max_size %q is %d", c.keep, got.AuditKeep, c.size, got.AuditSize)
		}
	}
	if got, err := Load(cli.Args{}, nil); err != nil || got.AuditKeep != 400*24*time.Hour || got.AuditSize != 2<<30 {
		t.Errorf("by default: %v, %d, %v", got.AuditKeep, got.AuditSize, err)
	}
}
