package toolaccess

import (
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

func rule(subject string) access.Rule { return access.Rule{Subject: subject} }

func deny(subject string, tools ...string) access.Rule {
	return access.Rule{Subject: subject, Deny: true, Tools: tools}
}

// Decision 54.
func TestToolAccess(t *testing.T) {
	owner, admin, bob := Who{User: "uo", App: "a1", Tier: "free"}, Who{User: "ua", Role: "admin", App: "a1", Tier: "free"},
		Who{User: "ub", Role: "developer", App: "a1", Tier: "free"}
	written := time.Now()
	ops := []access.Group{{Name: "ops", Since: written.Add(-time.Hour)}, {Name: "new", Since: written.Add(time.Hour)}}
	inOps, ofOps := Who{User: "ub", App: "a1", Groups: ops}, Who{App: "a3", Owner: "ub", OwnerGroups: ops}
	app, rich := Who{App: "a1", Tier: "free"}, Who{App: "a2", Tier: "enterprise"}
	get, post := toolplan.Tool{Name: "get", Method: "get", Call: &toolplan.Call{}},
		toolplan.Tool{Name: "post", Method: "post", Call: &toolplan.Call{}}
	received, silent := toolplan.Tool{Name: "told", ReadOnly: true}, toolplan.Tool{Name: "silent", Method: "get"}
	c := storage.Capability{Member: "m", Owner: "uo"}
	readOnly := access.Rule{Subject: "everyone", ReadOnly: true}
	for name, x := range map[string]struct {
		rules []access.Rule
		open  bool
		who   Who
		tool  toolplan.Tool
		want  bool
	}{
		"by default everyone":             {nil, true, bob, post, true},
		"by default an application":       {nil, true, app, post, true},
		"by default the owner":            {nil, false, owner, post, true},
		"by default an administrator":     {nil, false, admin, post, true},
		"by default nobody else":          {nil, false, bob, post, false},
		"an application is not its owner": {nil, false, Who{App: "uo", Tier: "free"}, post, false},
		"a user":                          {[]access.Rule{rule("user:ub")}, true, bob, post, true},
		"not another": {[]access.Rule{rule("user:ub")}, true, Who{User: "uc", App: "a1"}, post,
			false},
		"the owner beside a list":              {[]access.Rule{rule("user:ub")}, false, owner, post, true},
		"an administrator beside a list":       {[]access.Rule{rule("user:ub")}, false, admin, post, true},
		"a role":                               {[]access.Rule{rule("role:developer")}, false, bob, post, true},
		"a role without the user":              {[]access.Rule{rule("role:developer")}, false, app, post, false},
		"an application":                       {[]access.Rule{rule("app:a1")}, false, app, post, true},
		"an application for a user":            {[]access.Rule{rule("app:a1")}, false, bob, post, true},
		"another application":                  {[]access.Rule{rule("app:a1")}, false, rich, post, false},
		"a group":                              {[]access.Rule{rule("group:ops")}, false, inOps, post, true},
		"another group":                        {[]access.Rule{rule("group:dev")}, true, inOps, post, false},
		"a group that was made later":          {[]access.Rule{rule("group:new")}, true, inOps, post, false},
		"a denied group made later":            {[]access.Rule{deny("group:new")}, true, inOps, post, false},
		"a denied group":                       {[]access.Rule{deny("group:ops"), rule("user:ub")}, true, inOps, post, false},
		"what a group of its owner is denied":  {[]access.Rule{deny("group:ops")}, true, ofOps, post, false},
		"what a group of its owner is allowed": {[]access.Rule{rule("group:ops")}, false, ofOps, post, false},
		"a tier":                               {[]access.Rule{rule("tier:enterprise")}, false, rich, post, true},
		"another tier":                         {[]access.Rule{rule("tier:enterprise")}, false, bob, post, false},
		"a denial before": {[]access.Rule{deny("user:ub"), rule("everyone")}, true, bob, post,
			false},
		"a denial behind": {[]access.Rule{rule("user:ub"), deny("everyone")}, true, bob, post,
			false},
		"a denial alone leaves the others":      {[]access.Rule{deny("user:ub")}, true, app, post, true},
		"a denial alone, where only owners may": {[]access.Rule{deny("user:ub")}, false, app, post, false},
		"what its owner is denied": {[]access.Rule{rule("everyone"), deny("user:ub", "post")}, true,
			Who{App: "a3", Owner: "ub"}, post, false},
		"no more of it": {[]access.Rule{rule("everyone"), deny("user:ub", "post")}, true,
			Who{App: "a3", Owner: "ub"}, get, true},
		"what its owner is allowed": {[]access.Rule{rule("user:ub")}, false, Who{App: "a3", Owner: "ub"},
			post, false},
		"a denial of one tool": {[]access.Rule{rule("everyone"), deny("user:ub", "post")}, true, bob,
			post, false},
		"a denial of another tool": {[]access.Rule{rule("everyone"), deny("user:ub", "post")}, true, bob,
			get, true},
		"a denial for all holds for the owner":      {[]access.Rule{deny("everyone")}, true, owner, post, false},
		"a denial for all holds for administrators": {[]access.Rule{deny("everyone")}, true, admin, post, false},
		"read-only, a GET":                          {[]access.Rule{readOnly}, false, bob, get, true},
		"read-only, a POST":                         {[]access.Rule{readOnly}, false, bob, post, false},
		"read-only, as an upstream says":            {[]access.Rule{readOnly}, false, bob, received, true},
		"read-only, called by name":                 {[]access.Rule{readOnly}, false, bob, silent, false},
		"a subject that is none":                    {[]access.Rule{rule("everybody")}, true, bob, post, false},
	} {
		d := Decide(access.List{Rules: x.rules, UpdatedAt: written}, x.open, x.who, c, x.tool)
		if d.Allowed != x.want || (d.Rule == nil) == (d.Because == "") {
			t.Errorf("%s: %+v, want %t", name, d, x.want)
		}
	}
}

// The tools of a group are open to its managers as to an owner, and a rule that denies the group denies them to its
// applications.
func TestManagersOfAGroupAreTheOwnersOfItsTools(t *testing.T) {
	c := storage.Capability{Member: "m", Owner: "group:ops"}
	tool := toolplan.Tool{Name: "get"}
	for name, x := range map[string]struct {
		rules []access.Rule
		open  bool
		who   Who
		want  bool
	}{
		"a manager":              {nil, false, Who{User: "u1", Manages: []string{"dev", "ops"}}, true},
		"the manager of another": {nil, false, Who{User: "u1", Manages: []string{"dev"}}, false},
		"a member":               {nil, false, Who{User: "u1", Groups: []access.Group{{Name: "ops"}}}, false},
		"a user of that sub":     {nil, false, Who{User: "group:ops"}, false},
		"a manager who is denied it": {[]access.Rule{deny("user:u1")}, false,
			Who{User: "u1", Manages: []string{"ops"}}, false},
		"an application of the group":   {nil, true, Who{App: "a1", Owner: "group:ops"}, true},
		"one whose group is denied it":  {[]access.Rule{deny("group:ops")}, true, Who{App: "a1", Owner: "group:ops"}, false},
		"one whose group is allowed it": {[]access.Rule{rule("group:ops")}, false, Who{App: "a1", Owner: "group:ops"}, false},
	} {
		if d := Decide(access.List{Rules: x.rules}, x.open, x.who, c, tool); d.Allowed != x.want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
