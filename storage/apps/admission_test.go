package apps

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/secret"
)

func TestAdmissionOfAnApplicationIsChecked(t *testing.T) {
	app := App{Name: "App", Tier: TierFree, Secrets: []AppSecret{{Secret: secret.Draw()}}}
	for what, x := range map[string]struct {
		change func(*App)
		names  string // what the complaint does; "": there is none
	}{
		"a group":        {func(a *App) { a.Admission = &access.Admission{Allow: []string{"group:ops"}} }, ""},
		"an application": {func(a *App) { a.Admission = &access.Admission{Allow: []string{"app:ks1"}} }, "allow"},
		"a tier":         {func(a *App) { a.Admission = &access.Admission{Deny: []string{"tier:free"}} }, "deny"},
		"no subject":     {func(a *App) { a.Admission = &access.Admission{Deny: []string{"Ops"}} }, "deny"},
		"a filter":       {func(a *App) { a.GroupFilter = []string{"team-*"} }, ""},
		"no filter":      {func(a *App) { a.GroupFilter = []string{"team-["} }, "group_filter"},
	} {
		changed := app
		x.change(&changed)
		if err := changed.Check(); (err == nil) != (x.names == "") || err != nil && !strings.Contains(err.Error(), x.names) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
