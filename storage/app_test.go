package storage

import (
	"strings"
	"testing"
)

func TestAnApplicationDecidesHowTheOldEndpointsTreatIt(t *testing.T) {
	app := App{Name: "App", Tier: TierFree, Secrets: []AppSecret{{Secret: DrawSecret()}}}
	for code, good := range map[int]bool{0: true, 1: true, 2: false, -1: false, 105: false} {
		app.LegacySuccessCode = &code
		if err := app.Check(); (err == nil) != good {
			t.Errorf("legacy_success_code %d: Check = %v, want good %t", code, err, good)
		}
	}
	app.LegacySuccessCode = nil
	app.ForbidPlainKey = true
	if err := app.Check(); err != nil {
		t.Errorf("forbid_plain_key: Check = %v, want no error", err)
	}
	app.Public, app.Secrets = true, nil
	if err := app.Check(); err == nil || !strings.Contains(err.Error(), "forbid_plain_key") {
		t.Errorf("forbid_plain_key of a public application: Check = %v, want a complaint", err)
	}
}

func TestACopyOfAnApplicationHasItsOwnSuccessCode(t *testing.T) {
	code := 0
	app := App{LegacySuccessCode: &code}
	copied := app.clone()
	*copied.LegacySuccessCode = 1
	if code != 0 {
		t.Error("changing the copy changed the application")
	}
}
