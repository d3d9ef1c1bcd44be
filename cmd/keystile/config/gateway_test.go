package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway/limits"
)

func TestWhichRatesAreInShadow(t *testing.T) {
	all := []string{"free", "white_label", "enterprise"}
	for text, want := range map[string]limits.Shadow{
		"":                         {},
		"address":                  {Addresses: true},
		"application":              {Tiers: all},
		"free, address":            {Addresses: true, Tiers: []string{"free"}},
		"free,free,enterprise":     {Tiers: []string{"free", "enterprise"}},
		"application, white_label": {Tiers: all},
	} {
		if got, err := Load(cli.Args{}, []string{"KEYSTILE_LIMITS_SHADOW=" + text}); err != nil || !reflect.DeepEqual(got.Shadow, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got.Shadow, err, want)
		}
	}
	for _, text := range []string{"login", "all", "true", "address=free"} {
		if _, err := Load(cli.Args{}, []string{"KEYSTILE_LIMITS_SHADOW=" + text}); err == nil || !strings.Contains(err.Error(), "no other limit can be let through") {
			t.Errorf("%q: %v, want what can be in shadow", text, err)
		}
	}
}

func TestHowManyRepetitionsAreFree(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "100": 100, "-1": -1, "101": -1, "many": -1, "1.5": -1} {
		got, err := Load(cli.Args{}, []string{"KEYSTILE_GATEWAY_FREE_REPEATS=" + text})
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "from 0 to 100")) || want >= 0 && (err != nil || got.FreeRepeats != want) {
			t.Errorf("%q is %d, %v; want %d", text, got.FreeRepeats, err, want)
		}
	}
	if got, err := Load(cli.Args{}, nil); err != nil || got.FreeRepeats != 3 {
		t.Errorf("by default: %d, %v; want 3", got.FreeRepeats, err)
	}
}
