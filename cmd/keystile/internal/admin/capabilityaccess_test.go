package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/admin"
)

// shop is a workshop with a capability of two tools, pets.getPet and pets.post_pets.
func shop(t *testing.T) *office {
	t.Helper()
	o := workshop(t, false)
	o.must("capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", file(t, pets))
	o.trail = nil
	return o
}

// rulesShown are the rules of an answer in a few words.
func rulesShown(v map[string]any) (out []string) {
	for _, r := range v["rules"].([]any) {
		out = append(out, fmt.Sprint(r))
	}
	return out
}

// Decision 54.
func TestAccessIsAllowedDeniedAndTakenAway(t *testing.T) {
	for _, running := range []bool{false, true} {
		o := shop(t)
		if running {
			o.serve()
			o.held = errLocked
		}
		reloaded := 0
		o.target.Reload = func(context.Context) error { reloaded++; return nil }
		id, _ := o.app()
		o.trail = nil
		v := o.must("capability", "access", "pets")
		if v["member"] != "pets" || v["default"] != "everyone" || len(rulesShown(v)) != 0 || len(o.trail) != 0 ||
			reloaded != 0 {
			t.Errorf("running %t: at first %v, trail %v, reloaded %d", running, v, o.trail, reloaded)
		}
		v = o.must("capability", "access", "pets", "--allow", "user:ada", "--allow", "app:"+id, "--deny", "tier:free",
			"--tools", "getPet, getPet,post_pets")
		ada := o.sub("ada")
		want := []string{
			"map[subject:user:" + ada + " tools:[getPet post_pets]]", "map[subject:app:" + id + " tools:[getPet post_pets]]",
			"map[deny:true subject:tier:free tools:[getPet post_pets]]",
		}
		if got := rulesShown(v); !slices.Equal(got, want) {
			t.Errorf("running %t: %v, want %v", running, got, want)
		}
		v = o.must("capability", "access", "pets", "--deny", "user:"+ada, "--tools", "getPet,post_pets")
		if got := rulesShown(v); len(got) != 3 || got[2] != "map[deny:true subject:user:"+ada+" tools:[getPet post_pets]]" {
			t.Errorf("running %t: allowed and then denied it is %v", running, got)
		}
		v = o.must("capability", "access", "pets", "--reset", "--allow", "everyone", "--read-only")
		if got := rulesShown(v); !slices.Equal(got, []string{"map[read_only:true subject:everyone]"}) {
			t.Errorf("running %t: anew it is %v", running, got)
		}
		if v := o.must("capability", "access", "pets", "--reset"); len(rulesShown(v)) != 0 {
			t.Errorf("running %t: reset it is %v", running, v)
		}
		var details []string
		for _, e := range o.trail {
			details = append(details, e.Detail)
		}
		head := "capability access pets by " + admin.CommandLine().Name() + ": "
		if len(details) != 4 || details[2] != head+"3 rules -> 1; - allow app:"+id+" (getPet, post_pets); - deny tier:free "+
			"(getPet, post_pets); - deny user:"+ada+" (getPet, post_pets); + allow everyone (read-only)" ||
			!strings.HasPrefix(details[0], head+"0 rules -> 3; + allow user:"+ada+" ") {
			t.Errorf("running %t: the trail is %q", running, details)
		}
		if !running && reloaded != 4 {
			t.Errorf("the bus was told %d times, want 4", reloaded)
		}
	}
}

func TestRuleThatNamesNobodyIsRefused(t *testing.T) {
	o := shop(t)
	for want, words := range map[string][]string{
		`there is no user "eve"`:        {"capability", "access", "pets", "--allow", "user:eve"},
		`there is no application "ks9"`: {"capability", "access", "pets", "--allow", "app:ks9"},
		`"king"`:                        {"capability", "access", "pets", "--allow", "king"},
		`"role:king" is no role`:        {"capability", "access", "pets", "--deny", "role:king"},
		`"tier:gold" is no tier`:        {"capability", "access", "pets", "--deny", "tier:gold"},
		`there is no capability "none"`: {"capability", "access", "none", "--allow", "everyone"},
		`pets has no tool "burn"`:       {"capability", "access", "pets", "--allow", "everyone", "--tools", "burn"},
		"--tools or --read-only, not both": {"capability", "access", "pets", "--allow", "everyone", "--tools", "getPet",
			"--read-only"},
		"add one":                 {"capability", "access", "pets", "--tools", "getPet"},
		"name the MEMBER":         {"capability", "access"},
		"--who stands alone":      {"capability", "access", "pets", "--who", "ada"},
		"capability access takes": {"capability", "access", "pets", "more"},
	} {
		code, out, errs := o.run("", words...)
		if code == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q = %d %q %q, want %q", words, code, out, errs, want)
		}
	}
	if v := o.must("capability", "access", "pets"); len(rulesShown(v)) != 0 || len(o.trail) != 0 {
		t.Errorf("stored is %v, noted %v", v, o.trail)
	}
	o.wantFailure(1, `there is no capability "none"`, "capability", "access", "none")
}

func TestPeopleReadWhoMayUseWhat(t *testing.T) {
	o := shop(t)
	o.must("capability", "access", "pets", "--allow", "everyone", "--read-only", "--deny", "role:developer")
	_, out, _ := o.run("", "capability", "access", "pets")
	want := "member pets\ndefault everyone\n\nRULE SUBJECT TOOLS\nallow everyone read-only\ndeny role:developer read-only"
	if squeezed(out) != want {
		t.Errorf("shown is\n%s\nwant\n%s", squeezed(out), want)
	}
}

func TestAccessListsWhatAUserMayUseAndWhy(t *testing.T) {
	o := shop(t)
	id, _ := o.app()
	o.must("capability", "access", "pets", "--allow", "everyone", "--read-only")
	o.must("capability", "access", "pets", "--allow", "app:"+id)
	all := func(who string) (out []string) {
		for _, r := range o.rows("capability", "access", "--who", who) {
			out = append(out, fmt.Sprint(r["tool"], " ", r["allowed"], " ", r["because"]))
		}
		return out
	}
	for who, want := range map[string][]string{
		"ada": {"pets__post_pets false no rule allows it",
			"pets__getPet true rule: allow everyone (read-only)"},
		"user:" + o.sub("ada"): {"pets__post_pets false no rule allows it",
			"pets__getPet true rule: allow everyone (read-only)"},
		"root": {"pets__post_pets true the owner", "pets__getPet true the owner"},
		"app:" + id: {"pets__post_pets true rule: allow app:" + id + " (all)",
			"pets__getPet true rule: allow everyone (read-only)"},
	} {
		if got := all(who); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
	}
	o.must("capability", "access", "pets", "--reset")
	o.target.Ways = ways("open")
	if got := all("ada"); got[0] != "pets__post_pets false the default: the owner and administrators" {
		t.Errorf("with open sign-up: %q", got)
	}
	o.must("setting", "set", "mcp.default_access", "everyone")
	if got := all("ada"); got[0] != "pets__post_pets true the default: everyone" {
		t.Errorf("with the setting: %q", got)
	}
	o.wantFailure(2, "one of auto, everyone, owner", "setting", "set", "default_access", "nobody")
	o.wantFailure(1, `there is no user "eve"`, "capability", "access", "--who", "eve")
}

func TestBundleIsMadeShownAndDeleted(t *testing.T) {
	o := shop(t)
	v := o.must("capability", "bundle", "create", "support", "--tools", "pets__getPet", "--label", "Support")
	if v["name"] != "support" || v["path"] != "/api/mcp/b/support" || v["scope"] != "tools:b:support" ||
		fmt.Sprint(v["tools"]) != "[pets__getPet]" {
		t.Errorf("made is %v", v)
	}
	o.wantFailure(1, `a bundle named "support" is there already`, "capability", "bundle", "create", "support", "--tools", "pets__*")
	if rows := o.rows("capability", "bundle", "list"); len(rows) != 1 || rows[0]["label"] != "Support" {
		t.Errorf("listed is %v", rows)
	}
	if v := o.must("capability", "bundle", "show", "support"); v["label"] != "Support" {
		t.Errorf("shown is %v", v)
	}
	for want, words := range map[string][]string{
		`there is no capability "none"`:           {"--tools", "none__x"},
		`pets has no tool "burn"`:                 {"--tools", "pets__burn"},
		"neither member__tool":                    {"--tools", "pets"},
		"--tools NAMES is missing":                {},
		"a bundle names 1 to":                     {"--tools", ","},
		"the name of a bundle is 1 to 48 of A-Z ": {"--tools", "pets__*", "--label", "x"},
	} {
		name := "other"
		if strings.HasPrefix(want, "the name") {
			name = "a b"
		}
		code, _, errs := o.run("", append([]string{"capability", "bundle", "create", name}, words...)...)
		if code != 2 && code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%q = %d %q, want %q", words, code, errs, want)
		}
	}
	rows := o.rows("capability", "bundle", "access", "support", "--allow", "role:developer", "--deny", "tier:free")
	if len(rows) != 2 || rows[0]["subject"] != "role:developer" || rows[1]["deny"] != true {
		t.Errorf("its rules are %v", rows)
	}
	if rows := o.rows("capability", "bundle", "access", "support"); len(rows) != 2 {
		t.Errorf("its rules are shown as %v", rows)
	}
	o.wantFailure(1, `there is no group "none"`, "capability", "bundle", "access", "support", "--allow", "group:none")
	o.wantFailure(1, `there is no bundle "none"`, "capability", "bundle", "access", "none", "--reset")
	if rows := o.rows("capability", "bundle", "access", "support", "--reset"); len(rows) != 0 {
		t.Errorf("after --reset its rules are %v", rows)
	}
	if v := o.must("capability", "bundle", "delete", "support"); v["deleted"] != "support" {
		t.Errorf("deleted is %v", v)
	}
	o.wantFailure(1, `there is no bundle "support"`, "capability", "bundle", "show", "support")
	o.wantFailure(1, `there is no bundle "support"`, "capability", "bundle", "delete", "support")
	var details []string
	for _, e := range o.trail {
		details = append(details, e.Detail)
	}
	by := admin.CommandLine().Name()
	if !slices.Equal(details, []string{"bundle create support by " + by + ": none -> pets__getPet",
		"bundle access support by " + by + ": 0 rules -> 2; + allow role:developer (all); + deny tier:free (all)",
		"bundle access support by " + by + ": 2 rules -> 0; - allow role:developer (all); - deny tier:free (all)",
		"bundle delete support by " + by + ": pets__getPet -> none"}) {
		t.Errorf("the trail is %q", details)
	}
}

func TestBusThatCanNotBeToldIsSaid(t *testing.T) {
	o := shop(t)
	o.target.Reload = func(context.Context) error { return errors.New("the disk is away") }
	code, out, errs := o.run("", "capability", "access", "pets", "--deny", "everyone")
	if code != 1 || !strings.Contains(out, "deny") || !strings.Contains(errs,
		"it is done, but the bus does not know it yet: the disk is away") || len(o.trail) != 1 {
		t.Errorf("%d %q %q, trail %v", code, out, errs, o.trail)
	}
}

// A role opens tools, so a change of it is told to whoever remembers it.
func TestChangedUserIsForgotten(t *testing.T) {
	o := shop(t)
	o.forgotten = nil
	o.must("user", "set", "ada", "--role", "developer")
	if !slices.Contains(o.forgotten, o.sub("ada")) {
		t.Errorf("forgotten is %v", o.forgotten)
	}
}
