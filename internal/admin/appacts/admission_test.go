package appacts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/groups"
)

func (o *office) group(name string, members ...admin.Actor) groups.Group {
	o.t.Helper()
	g, err := o.SaveGroup(o.t.Context(), groups.Group{Name: name})
	for _, m := range members {
		if err == nil {
			_, err = o.AddMember(o.t.Context(), name, m.Sub)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return g
}

func (o *office) admits(id string, u admin.Actor) bool {
	o.t.Helper()
	a, err := o.App(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	ok, err := o.Admits(o.t.Context(), a, u.User)
	if err != nil {
		o.t.Fatal(err)
	}
	return ok
}

func (o *office) set(id string, c Change) storage.App {
	o.t.Helper()
	_, after, err := o.acts.Set(o.t.Context(), admin.CommandLine(), id, c)
	if err != nil {
		o.t.Fatal(err)
	}
	return after
}

func TestListOfWhoMayUseAnApplicationReplacesTheOneBefore(t *testing.T) {
	o := newOffice(t)
	ada, bob := o.user("ada", ""), o.user("bob", "")
	o.group("ops", ada)
	id := o.made(admin.CommandLine(), shop).ID
	for _, step := range []struct {
		allow, deny       []string
		wantAllow, wantNo []string
		ada, bob          bool
	}{
		{[]string{"group:ops"}, nil, []string{"group:ops"}, []string{}, true, false},
		{[]string{"user:" + bob.Sub, "user:" + bob.Sub}, nil, []string{"user:" + bob.Sub}, []string{}, false, true},
		{nil, []string{"user:" + bob.Sub}, []string{"user:" + bob.Sub}, []string{"user:" + bob.Sub}, false, false},
		{[]string{"everyone"}, nil, []string{"everyone"}, []string{"user:" + bob.Sub}, true, false},
		{nil, []string{}, []string{"everyone"}, []string{}, true, true},
		{nil, []string{"everyone"}, []string{"everyone"}, []string{"everyone"}, false, false},
	} {
		after := o.set(id, Change{Allow: step.allow, Deny: step.deny})
		allow, deny := after.Admission.Lists()
		if !slices.Equal(allow, step.wantAllow) || !slices.Equal(deny, step.wantNo) {
			t.Errorf("after %q, %q it is %q, %q", step.allow, step.deny, allow, deny)
		}
		if o.admits(id, ada) != step.ada || o.admits(id, bob) != step.bob {
			t.Errorf("after %q, %q: ada %t, bob %t", step.allow, step.deny, !step.ada, !step.bob)
		}
	}
	o.set(id, Change{Deny: []string{}})
	if a, _ := o.App(t.Context(), id); a.Admission != nil {
		t.Errorf("everyone may, and it has %+v", a.Admission)
	}
}

func TestListOfWhoMayUseAnApplicationIsRefusedWhole(t *testing.T) {
	o := newOffice(t)
	id := o.made(admin.CommandLine(), shop).ID
	many := make([]string, 201)
	for i := range many {
		many[i] = "user:u" + strings.Repeat("x", i)
	}
	for what, c := range map[string]Change{
		"nobody":                        {Allow: []string{}},
		"includes the others":           {Allow: []string{"everyone", "role:admin"}},
		`no group "ops": make it first`: {Allow: []string{"group:ops"}},
		`no group "dev": make it first`: {Deny: []string{"group:dev"}},
		`no user "eve"`:                 {Allow: []string{"user:eve"}},
		"is no user: it is everyone":    {Allow: []string{"app:ks1"}},
		"is no role":                    {Deny: []string{"role:king"}},
		"names no group":                {Allow: []string{"group:Ops"}},
		"is none of everyone":           {Allow: []string{"ops"}},
		"make a group of them":          {Allow: many},
		"group_filter: ":                {Learns: Learns{GroupFilter: []string{"A*"}}},
		"has a meaning":                 {Learns: Learns{Claims: []claim.Rule{{Claim: "sub", From: "field:name"}}}},
	} {
		_, _, err := o.acts.Set(t.Context(), admin.CommandLine(), id, c)
		if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if a, _ := o.App(t.Context(), id); a.Admission != nil || a.GroupFilter != nil || a.Claims != nil {
		t.Errorf("it is %+v", a)
	}
}

// A group that is made anew under the name is another one, until an administrator says it once more.
func TestGroupThatIsMadeAnewIsNotTheOneThatIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ada := o.user("ada", "")
		g := o.group("ops", ada)
		id := o.made(admin.CommandLine(), shop).ID
		o.set(id, Change{Allow: []string{"group:ops"}})
		if !o.admits(id, ada) {
			t.Fatal("a member may not")
		}
		time.Sleep(time.Minute)
		if err := o.DeleteGroup(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if o.admits(id, ada) {
			t.Error("a member of a group that was deleted may")
		}
		time.Sleep(time.Minute)
		o.group("ops", ada)
		for what, c := range map[string]Change{
			"nothing": {Name: new("Store")}, "who may not": {Deny: []string{"role:auditor"}},
		} {
			if o.set(id, c); o.admits(id, ada) {
				t.Errorf("a member of a new group of the name may, after %s was said", what)
			}
		}
		if o.set(id, Change{Allow: []string{"group:ops"}}); !o.admits(id, ada) {
			t.Error("it was said once more, and a member may not")
		}
		since := o.set(id, Change{Allow: []string{"group:ops"}}).Admission.Since
		time.Sleep(time.Minute)
		if again := o.set(id, Change{Allow: []string{"group:ops"}}).Admission.Since; !again.Equal(since) {
			t.Error("the same said of the same group is a change")
		}
	})
}

// The clock of the node that has made a group may be ahead.
func TestGroupOfANodeWhoseClockIsAheadIsTheOneThatIsAllowed(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	late := o.group("ops", ada)
	id := o.made(admin.CommandLine(), shop).ID
	o.behind = late.Since().Add(-time.Second)
	if o.set(id, Change{Allow: []string{"group:ops"}}); !o.admits(id, ada) {
		t.Error("a member may not")
	}
}

func TestApplicationThatRegisteredItselfStaysOnceItIsSaidWhoMayUseIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		for _, id := range []string{client.DynamicPrefix + "agent", "https://agent.example/client.json"} {
			d := &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
				RedirectURIs: []string{"http://127.0.0.1/cb"}, ExpiresAt: time.Now().Add(time.Hour)}
			if strings.HasPrefix(id, "https:") {
				d.Kind = client.Document
			}
			if _, err := o.SaveApp(t.Context(), storage.App{ID: id, Name: "Agent", Public: true, ForbidPlain: true,
				Client: d}); err != nil {
				t.Fatal(err)
			}
			o.set(id, Change{Name: new("Agent")})
			if a, _ := o.App(t.Context(), id); a.Live(time.Now().Add(2 * time.Hour)) {
				t.Errorf("%s stays, and nothing was said of who may use it", id)
			}
			after := o.set(id, Change{Allow: []string{"role:admin"}})
			if allow, _ := after.Admission.Lists(); !slices.Equal(allow, []string{"role:admin"}) ||
				!after.Live(time.Now().Add(1000*time.Hour)) {
				t.Errorf("%s is %+v of %+v", id, after.Client, after.Admission)
			}
		}
	})
}

func TestApplicationThatHasEndedIsNotChanged(t *testing.T) {
	o := newOffice(t)
	id := client.DynamicPrefix + "agent"
	if _, err := o.SaveApp(t.Context(), storage.App{ID: id, Name: "Agent", Public: true, ForbidPlain: true,
		Client: &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
			RedirectURIs: []string{"http://127.0.0.1/cb"}, ExpiresAt: time.Now().Add(-time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	_, _, err := o.acts.Set(t.Context(), admin.CommandLine(), id, Change{Allow: []string{access.SubjectEveryone}})
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is %v, want ErrNotFound", err)
	}
}

func TestWhoMayUseAnApplicationIsOnTheTrailAndToldToItsOwner(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	id := o.made(ada, shop).ID
	o.trail, o.told = nil, nil
	o.set(id, Change{Allow: []string{"role:admin"}, Deny: []string{"user:" + ada.Sub}, Learns: Learns{
		GroupFilter: []string{"team-*"}, GroupsInAccessToken: new(true),
		Claims: []claim.Rule{{Claim: "department", From: "attribute:dept"}}}})
	detail := o.trail[0].Detail
	for _, want := range []string{`allow -"everyone"; allow +"role:admin"; deny +"user:uada"`, `group_filter +"team-*"`,
		"groups_in_access_token false -> true", `claims +"{\"claim\":\"department\",\"from\":\"attribute:dept\"}"`} {
		if !strings.Contains(detail, want) {
			t.Errorf("the trail lacks %s: %s", want, detail)
		}
	}
	if len(o.told) != 1 || !strings.Contains(o.told[0], "allow, deny, groups, claims") {
		t.Errorf("told %q", o.told)
	}
}
