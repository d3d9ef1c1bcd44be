package admin

import (
	"strings"
	"testing"
)

func TestSettingOfTheStartIsNamedAsOne(t *testing.T) {
	o := newOffice(t)
	for name, want := range map[string]string{
		"signup": "--signup", "lifetimes.code": "--lifetimes-code", "base_url": "--base-url",
		"oauth_force_pkc": "the nearest one is", "weather": "list them with",
	} {
		code, _, errs := o.run("", "setting", "set", name, "maybe")
		if start := strings.HasPrefix(want, "--"); code != 2 || !strings.Contains(errs, want) ||
			strings.Contains(errs, "a setting of the start") != start {
			t.Errorf("setting set %s: %d %s", name, code, errs)
		}
	}
}
