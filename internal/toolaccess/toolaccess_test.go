package toolaccess

import (
	"testing"

	"github.com/keystile/keystile/storage"
)

func rule(subject string) storage.AccessRule { return storage.AccessRule{Subject: subject} }

func deny(subject string, tools ...string) storage.AccessRule {
	return storage.AccessRule{Subject: subject, Deny: true, Tools: tools}
}

// Entry 54 of the decisions.
func TestWhoMayUseATool(t *testing.T) {
	owner, admin, bob := Who{User: "uo", App: "a1", Tier: "free"}, Who{User: "ua", Role: "admin", App: "a1", Tier: "free"}, Who{User: "ub", Role: "developer", App: "a1", Tier: "free"}
	app, rich := Who{App: "a1", Tier: "free"}, Who{App: "a2", Tier: "enterprise"}
	get, post := storage.Tool{Name: "get", Method: "get", Call: &storage.Call{}}, storage.Tool{Name: "post", Method: "post", Call: &storage.Call{}}
	told, silent := storage.Tool{Name: "told", ReadOnly: true}, storage.Tool{Name: "silent", Method: "get"}
	c := storage.Capability{Member: "m", Owner: "uo"}
	readOnly := storage.AccessRule{Subject: "everyone", ReadOnly: true}
	for name, x := range map[string]struct {
		rules []storage.AccessRule
		open  bool
		who   Who
		tool  storage.Tool
		want  bool
	}{
		"by default everyone":                       {nil, true, bob, post, true},
		"by default an application":                 {nil, true, app, post, true},
		"by default the owner":                      {nil, false, owner, post, true},
		"by default an administrator":               {nil, false, admin, post, true},
		"by default nobody else":                    {nil, false, bob, post, false},
		"an application is not its owner":           {nil, false, Who{App: "uo", Tier: "free"}, post, false},
		"a user":                                    {[]storage.AccessRule{rule("user:ub")}, true, bob, post, true},
		"not another":                               {[]storage.AccessRule{rule("user:ub")}, true, Who{User: "uc", App: "a1"}, post, false},
		"the owner beside a list":                   {[]storage.AccessRule{rule("user:ub")}, false, owner, post, true},
		"an administrator beside a list":            {[]storage.AccessRule{rule("user:ub")}, false, admin, post, true},
		"a role":                                    {[]storage.AccessRule{rule("role:developer")}, false, bob, post, true},
		"a role without the user":                   {[]storage.AccessRule{rule("role:developer")}, false, app, post, false},
		"an application":                            {[]storage.AccessRule{rule("app:a1")}, false, app, post, true},
		"an application for a user":                 {[]storage.AccessRule{rule("app:a1")}, false, bob, post, true},
		"another application":                       {[]storage.AccessRule{rule("app:a1")}, false, rich, post, false},
		"a tier":                                    {[]storage.AccessRule{rule("tier:enterprise")}, false, rich, post, true},
		"another tier":                              {[]storage.AccessRule{rule("tier:enterprise")}, false, bob, post, false},
		"a denial before":                           {[]storage.AccessRule{deny("user:ub"), rule("everyone")}, true, bob, post, false},
		"a denial behind":                           {[]storage.AccessRule{rule("user:ub"), deny("everyone")}, true, bob, post, false},
		"a denial alone leaves the others":          {[]storage.AccessRule{deny("user:ub")}, true, app, post, true},
		"a denial alone, where only owners may":     {[]storage.AccessRule{deny("user:ub")}, false, app, post, false},
		"what its owner is denied":                  {[]storage.AccessRule{rule("everyone"), deny("user:ub", "post")}, true, Who{App: "a3", Owner: "ub"}, post, false},
		"no more of it":                             {[]storage.AccessRule{rule("everyone"), deny("user:ub", "post")}, true, Who{App: "a3", Owner: "ub"}, get, true},
		"what its owner is allowed":                 {[]storage.AccessRule{rule("user:ub")}, false, Who{App: "a3", Owner: "ub"}, post, false},
		"a denial of one tool":                      {[]storage.AccessRule{rule("everyone"), deny("user:ub", "post")}, true, bob, post, false},
		"a denial of another tool":                  {[]storage.AccessRule{rule("everyone"), deny("user:ub", "post")}, true, bob, get, true},
		"a denial for all holds for the owner":      {[]storage.AccessRule{deny("everyone")}, true, owner, post, false},
		"a denial for all holds for administrators": {[]storage.AccessRule{deny("everyone")}, true, admin, post, false},
		"read-only, a GET":                          {[]storage.AccessRule{readOnly}, false, bob, get, true},
		"read-only, a POST":                         {[]storage.AccessRule{readOnly}, false, bob, post, false},
		"read-only, as an upstream says":            {[]storage.AccessRule{readOnly}, false, bob, told, true},
		"read-only, called by name":                 {[]storage.AccessRule{readOnly}, false, bob, silent, false},
		"a subject that is none":                    {[]storage.AccessRule{rule("everybody")}, true, bob, post, false},
	} {
		if d := Decide(x.rules, x.open, x.who, c, x.tool); d.Allowed != x.want || (d.Rule == nil) == (d.Because == "") {
			t.Errorf("%s: %+v, want %t", name, d, x.want)
		}
	}
}
