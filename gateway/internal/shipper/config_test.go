package shipper_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
)

func TestConfigOfAStreamIsJudged(t *testing.T) {
	for says, c := range map[string]stream.Config{
		"":          {Target: &bucket{}},
		"MaxBytes":  {Target: &bucket{}, MaxBytes: -1},
		"64 MiB":    {Target: &bucket{}, MaxBytes: 65 << 20},
		"MaxAge":    {Target: &bucket{}, MaxAge: 2 * time.Hour},
		"Name":      {Target: stream.NewWriter("a\x00", io.Discard)},
		"the Name ": {Target: stream.NewWriter(strings.Repeat("a", 1020), io.Discard)},
	} {
		err := shipper.Check(&c)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
	if c := (stream.Config{MaxBytes: -1}); shipper.Check(&c) != nil {
		t.Error("without a Target there is nothing to judge")
	}
}
