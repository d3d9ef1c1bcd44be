package access

import (
	"testing"
	"time"
)

func TestAdmissionIsDecidedByAllowAndDeny(t *testing.T) {
	now := time.Now()
	ada := Viewer{User: "ua", Role: "developer",
		Groups: []Group{{"ops", now.Add(-time.Hour)}, {"new", now.Add(time.Hour)}}}
	for what, x := range map[string]struct {
		admission *Admission
		want      bool
	}{
		"nothing said":              {nil, true},
		"the zero one":              {&Admission{}, true},
		"everyone":                  {&Admission{Allow: []string{"everyone"}}, true},
		"the user":                  {&Admission{Allow: []string{"user:ub", "user:ua"}}, true},
		"another user":              {&Admission{Allow: []string{"user:ub"}}, false},
		"the role":                  {&Admission{Allow: []string{"role:developer"}}, true},
		"another role":              {&Admission{Allow: []string{"role:admin"}}, false},
		"a group":                   {&Admission{Allow: []string{"group:ops"}, Since: now}, true},
		"another group":             {&Admission{Allow: []string{"group:dev"}, Since: now}, false},
		"a group made later":        {&Admission{Allow: []string{"group:new"}, Since: now}, false},
		"a denied group made late":  {&Admission{Deny: []string{"group:new"}, Since: now}, false},
		"denied and allowed":        {&Admission{Allow: []string{"everyone"}, Deny: []string{"user:ua"}}, false},
		"another one denied":        {&Admission{Deny: []string{"user:ub"}}, true},
		"no subject":                {&Admission{Allow: []string{"nobody"}}, false},
		"a denied one that is none": {&Admission{Deny: []string{"nobody"}}, false},
	} {
		if got := x.admission.Admits(ada); got != x.want {
			t.Errorf("%s: %t, want %t", what, got, x.want)
		}
	}
	if (&Admission{Allow: []string{"role:admin"}}).Admits(Viewer{User: "u"}) {
		t.Error("somebody without a role has one")
	}
	var none *Admission
	ofGroup, ofUser := Admission{Deny: []string{"group:ops"}}, Admission{Allow: []string{"user:ua"}}
	if !ofGroup.NeedsGroups() || ofUser.NeedsGroups() || none.NeedsGroups() {
		t.Error("what looks at groups is not known")
	}
}
