package admin

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestGroupIsMadeFilledChangedAndDeleted(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		if served {
			o.serve()
		}
		ada, bob := o.user("ada"), o.user("bob")
		o.trail = nil
		g := o.must("group", "create", "ops", "--label", "Operations", "--manager", "ADA")
		if g["name"] != "ops" || g["label"] != "Operations" || fmt.Sprint(g["managers"]) != "["+ada+"]" {
			t.Errorf("served %t: made is %v", served, g)
		}
		for _, want := range []bool{true, false} {
			if v := o.must("group", "add", "ops", bob); v["added"] != want || v["username"] != "bob" || v["group"] != "ops" {
				t.Errorf("served %t: added is %v", served, v)
			}
		}
		if v := o.must("group", "show", "ops"); fmt.Sprint(v["members"]) != "["+bob+"]" || v["next"] != "" {
			t.Errorf("served %t: shown is %v", served, v)
		}
		v := o.must("group", "set", "ops", "--label", "", "--manager", "bob", "--manager", bob, "--drop-manager", "ada")
		if v["label"] != "" || fmt.Sprint(v["managers"]) != "["+bob+"]" {
			t.Errorf("served %t: changed is %v", served, v)
		}
		for _, want := range []bool{true, false} {
			if v := o.must("group", "remove", "ops", "bob"); v["removed"] != want {
				t.Errorf("served %t: removed is %v", served, v)
			}
		}
		if v := o.must("group", "delete", "ops"); v["deleted"] != true || len(o.rows("group", "list")) != 0 {
			t.Errorf("served %t: deleted is %v", served, v)
		}
		var what []string
		for _, e := range o.trail {
			what = append(what, strings.Join(strings.Fields(e.Detail)[:3], " "))
		}
		want := []string{"group create ops", "group add ops", "group add ops", "group set ops", "group remove ops",
			"group delete ops"}
		if !slices.Equal(what, want) {
			t.Errorf("served %t: on the trail is %q, want %q", served, what, want)
		}
	}
}

func TestGroupsAreListedByWhatTheyBeginWith(t *testing.T) {
	o := newOffice(t)
	o.must("group", "create", "team-a")
	o.must("group", "create", "ops", "--label", "Team of nights")
	o.must("group", "create", "dev")
	for prefix, want := range map[string]string{"": "dev ops team-a", "TEAM": "ops team-a", "dev": "dev"} {
		var names []string
		for _, g := range o.rows("group", "list", "--q", prefix) {
			names = append(names, g["name"].(string))
		}
		if slices.Sort(names); strings.Join(names, " ") != want {
			t.Errorf("%q: %q, want %q", prefix, names, want)
		}
	}
	if _, out, _ := o.run("", "group", "list", "--q", "none"); out != "no group begins with none\n" {
		t.Errorf("it says %q", out)
	}
	if _, out, _ := o.run("", "group", "list"); !strings.HasPrefix(out, "NAME    LABEL           MANAGERS  CREATED_AT\n") {
		t.Errorf("it says %q", out)
	}
}

func TestMembersOfAGroupAreShownHundredByHundred(t *testing.T) {
	o := newOffice(t)
	o.must("group", "create", "ops")
	want := map[string]bool{}
	for i := range 120 {
		want[fmt.Sprintf("u%03d", i)] = true
		if _, err := o.target.Store.AddMember(t.Context(), "ops", fmt.Sprintf("u%03d", i)); err != nil {
			t.Fatal(err)
		}
	}
	first := o.must("group", "show", "ops")
	second := o.must("group", "show", "ops", "--after", first["next"].(string))
	all := append(first["members"].([]any), second["members"].([]any)...)
	for _, sub := range all {
		delete(want, sub.(string))
	}
	if len(first["members"].([]any)) != 100 || len(all) != 120 || len(want) != 0 || second["next"] != "" {
		t.Errorf("the pages have %d of %d, and lack %v", len(first["members"].([]any)), len(all), want)
	}
}

func TestGroupThatIsNamedWrongIsSaidSo(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	o.must("group", "create", "ops")
	o.trail = nil
	o.wantFailure(2, "the name of a group is 1 to 63 of a-z", "group", "create", "Ops")
	o.wantFailure(1, "there is a group ops already", "group", "create", "ops")
	o.wantFailure(1, `there is no user "eve"`, "group", "create", "dev", "--manager", "eve")
	o.wantFailure(1, `there is no user "eve"`, "group", "add", "ops", "eve")
	o.wantFailure(2, "changes nothing", "group", "set", "ops")
	o.wantFailure(2, "as it was printed", "group", "show", "ops", "--after", "%")
	o.wantFailure(2, "of the same list", "group", "show", "ops", "--after", "b3Bz")
	for _, words := range []string{"show none", "set none --label x", "add none ada", "remove none ada", "delete none"} {
		o.wantFailure(1, `there is no group "none"; list them with: keystile group list`,
			append([]string{"group"}, strings.Fields(words)...)...)
	}
	if len(o.trail) > 0 || len(o.rows("group", "list")) != 1 {
		t.Errorf("on the trail is %v", o.trail)
	}
}

func TestAttributesOfAUserAreSetAndDropped(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	for _, c := range []struct{ words, want string }{
		{"--attribute dept=Sales --attribute note=a=b", "map[dept:Sales note:a=b]"},
		{"--attribute dept= --drop-attribute note --drop-attribute gone", "map[dept:]"},
		{"--nickname Ada", "map[dept:]"},
		{"--drop-attribute dept", "map[]"},
	} {
		v := o.must(append([]string{"user", "set", "ada"}, strings.Fields(c.words)...)...)
		if got := fmt.Sprint(v["attributes"]); got != c.want {
			t.Errorf("%s: %s, want %s", c.words, got, c.want)
		}
	}
	o.must("user", "set", "ada", "--attribute", "dept=Sales", "--attribute", "floor=3")
	if _, out, _ := o.run("", "user", "set", "ada", "--nickname", "A"); !strings.Contains(out, "dept=Sales, floor=3\n") {
		t.Errorf("it says %q", out)
	}
	o.trail = nil
	o.wantFailure(2, "write NAME=VALUE", "user", "set", "ada", "--attribute", "dept")
	o.wantFailure(2, "each NAME once", "user", "set", "ada", "--attribute", "dept=x", "--drop-attribute", "dept")
	o.wantFailure(2, "a name is 1 to 32 of a-z", "user", "set", "ada", "--attribute", "Dept=x")
	if len(o.trail) > 0 {
		t.Errorf("on the trail is %v", o.trail)
	}
}
