package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway"
)

func TestShadowHoldsTheRatesThatAreNamed(t *testing.T) {
	all := []string{"free", "white_label", "enterprise"}
	for text, want := range map[string]gateway.Shadow{
		"":                         {},
		"address":                  {Addresses: true},
		"application":              {Tiers: all},
		"free, address":            {Addresses: true, Tiers: []string{"free"}},
		"free,free,enterprise":     {Tiers: []string{"free", "enterprise"}},
		"application, white_label": {Tiers: all},
	} {
		if got, err := Load(cli.Args{}, []string{"KEYSTILE_LIMITS_SHADOW=" + text}); err != nil ||
			!reflect.DeepEqual(got.Shadow, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got.Shadow, err, want)
		}
	}
	for _, text := range []string{"login", "all", "true", "address=free"} {
		if _, err := Load(cli.Args{}, []string{"KEYSTILE_LIMITS_SHADOW=" + text}); err == nil ||
			!strings.Contains(err.Error(), "no other limit can be let through") {
			t.Errorf("%q: %v, want what can be in shadow", text, err)
		}
	}
}

func TestRepetitionsThatAreFreeAreConfigured(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "100": 100, "-1": -1, "101": -1, "many": -1, "1.5": -1} {
		got, err := Load(cli.Args{}, []string{"KEYSTILE_GATEWAY_FREE_REPEATS=" + text})
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "from 0 to 100")) || want >= 0 &&
			(err != nil || got.FreeRepeats != want) {
			t.Errorf("%q is %d, %v; want %d", text, got.FreeRepeats, err, want)
		}
	}
	if got, err := Load(cli.Args{}, nil); err != nil || got.FreeRepeats != 1 {
		t.Errorf("by default: %d, %v; want 1", got.FreeRepeats, err)
	}
}

func TestCallMayGoOnForAsLongAsItsProductTakes(t *testing.T) {
	if got, err := Load(cli.Args{}, nil); err != nil || got.StreamLife != 24*time.Hour {
		t.Errorf("by default: %v, %v; want 24h", got.StreamLife, err)
	}
	_, err := Load(cli.Args{}, []string{
		"KEYSTILE_GATEWAY_STREAM_LIFE=5m", `KEYSTILE_GATEWAY_PRODUCTS=[{"name":"svc","upstream":"http://127.0.0.1:9000","timeout":"10m"}]`,
	})
	if err == nil || !strings.Contains(err.Error(), "gateway.stream_life") {
		t.Errorf("a life of 5m with a timeout of 10m: %v, want a complaint", err)
	}
}
