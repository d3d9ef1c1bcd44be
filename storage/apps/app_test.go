package apps

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/secret"
)

func TestApplicationDecidesHowTheOldEndpointsTreatIt(t *testing.T) {
	app := App{Name: "App", Tier: TierFree, Secrets: []AppSecret{{Secret: secret.Draw()}}}
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

func TestCopyOfAnApplicationSharesNoMemoryWithIt(t *testing.T) {
	code := 0
	app := App{LegacySuccessCode: &code, Domains: []string{"a"}, RedirectURIs: []string{"a"},
		Secrets: []AppSecret{{Secret: secret.New("a")}}}
	copied := app.clone()
	*copied.LegacySuccessCode, copied.Domains[0], copied.RedirectURIs[0], copied.Secrets[0] = 1, "b", "b", AppSecret{}
	if code != 0 || app.Domains[0] != "a" || app.RedirectURIs[0] != "a" || !app.Secrets[0].Secret.Equal("a") {
		t.Errorf("changing the copy changed the application: %d, %+v", code, app)
	}
}
