package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

func TestBusConfigIsPassedOn(t *testing.T) {
	for _, c := range []struct {
		key, value string
		ok         func(Bus) bool
		says       string
	}{
		{"BUS_PAGE_SIZE", "1", func(b Bus) bool { return b.PageSize == 1 }, ""},
		{"BUS_PAGE_SIZE", "1000", func(b Bus) bool { return b.PageSize == 1000 }, ""},
		{"BUS_PAGE_SIZE", "0", nil, "from 1 to 1000"}, {"BUS_PAGE_SIZE", "1001", nil, "from 1 to 1000"},
		{"BUS_PAGE_SIZE", "many", nil, "from 1 to 1000"},
		{"BUS_MAX_NAME", "40", func(b Bus) bool { return b.MaxName == 40 }, ""},
		{"BUS_MAX_NAME", "64", func(b Bus) bool { return b.MaxName == 64 }, ""},
		{"BUS_MAX_NAME", "39", nil, "from 40 to 64"}, {"BUS_MAX_NAME", "65", nil, "from 40 to 64"},
		{"BUS_PER_CALLER", "1", func(b Bus) bool { return b.PerCaller == 1 }, ""},
		{"BUS_PER_CALLER", "1000", func(b Bus) bool { return b.PerCaller == 1000 }, ""},
		{"BUS_PER_CALLER", "0", nil, "from 1 to 1000"}, {"BUS_PER_CALLER", "1001", nil, "from 1 to 1000"},
		{"BUS_MAX_ANSWER", "64KiB", func(b Bus) bool { return b.MaxAnswer == 64<<10 }, ""},
		{"BUS_MAX_ANSWER", "16MiB", func(b Bus) bool { return b.MaxAnswer == 16<<20 }, ""},
		{"BUS_MAX_ANSWER", "63KiB", nil, "64KiB to 16MiB"}, {"BUS_MAX_ANSWER", "17MiB", nil, "64KiB to 16MiB"},
		{"BUS_MAX_ANSWER", "0MiB", nil, "64KiB to 16MiB"}, {"BUS_MAX_ANSWER", "1048576", nil, "a unit"},
		{"BUS_ORIGINS", "https://a.example, http://localhost:5173", func(b Bus) bool {
			return slices.Equal(b.Origins, []string{"https://a.example", "http://localhost:5173"})
		}, ""},
		{"BUS_ORIGINS", "*", nil, "begin with https"}, {"BUS_ORIGINS", "https://a.example/", nil, "write https://a.example"},
		{"BUS_ORIGINS", "https://A.example", nil, "write https://a.example"},
		{"BUS_ORIGINS", "null", nil, "begin with https"},
	} {
		got, err := Load(cli.Args{}, []string{"KEYSTILE_" + c.key + "=" + c.value})
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), "for example")):
			t.Errorf("%s=%s: %v, want %q", c.key, c.value, err, c.says)
		case c.says == "" && (err != nil || !c.ok(got.Bus) || len(got.Origins) > 0):
			t.Errorf("%s=%s: %+v, %v", c.key, c.value, got, err)
		}
	}
	if c := load(t, nil); c.Bus.PageSize != 1000 || c.Bus.MaxName != 64 || c.Bus.PerCaller != 16 ||
		c.Bus.MaxAnswer != 1<<20 || len(c.Bus.Origins) > 0 {
		t.Errorf("by default: %+v", c.Bus)
	}
	if c := load(t, []string{"KEYSTILE_CORS_ORIGINS=https://console.example"}); len(c.Bus.Origins) > 0 ||
		len(c.Origins) != 1 {
		t.Errorf("the console's origins are %v, the bus's %v", c.Origins, c.Bus.Origins)
	}
}
