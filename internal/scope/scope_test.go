package scope

import "testing"

// A capability cannot be named so that its scope is that of a bundle, and neither can be
// mistaken for the scope that opens everything.
func TestScopesOfToolsAreDistinct(t *testing.T) {
	for _, name := range []string{"tools", "tools:", "tools:b:", "tools:b:a:b", "tools: shop", "tools:sh op", "tools:b",
		"Tools:shop", "tools:é"} {
		member, isMember := MemberOf(name)
		bundle, isBundle := BundleOf(name)
		if want := name == "tools:b"; isMember != want || isBundle {
			t.Errorf("%q: capability %q %v, bundle %q %v", name, member, isMember, bundle, isBundle)
		}
	}
	if m, ok := MemberOf(Member("shop")); !ok || m != "shop" {
		t.Errorf("capability shop: %q %v", m, ok)
	}
	if b, ok := BundleOf(Bundle("support")); !ok || b != "support" {
		t.Errorf("bundle support: %q %v", b, ok)
	}
	if _, ok := MemberOf(Bundle("support")); ok {
		t.Error("the scope of a bundle is taken for that of a capability")
	}
}

// Decision 52: the scope of management is granted by users alone, and never kept by a refresh.
func TestElevatedScopesAreTakenOut(t *testing.T) {
	if got := WithoutElevated("openid apps tools"); got != "openid tools" {
		t.Errorf("openid apps tools is left as %q", got)
	}
	if !HasElevated("openid apps") || HasElevated("openid app tools:apps") {
		t.Error("only apps is elevated")
	}
	for name, want := range map[string]bool{"apps": true, "tools": true, "tools:shop": true, "tools:b:x": true,
		"app": false, "offline_access": false, "tools:": false, "groups": true} {
		if Grantable(name) != want {
			t.Errorf("%q can be granted by users: %v", name, !want)
		}
	}
	if got := OnlyElevated("openid apps tools"); got != "apps" {
		t.Errorf("of openid apps tools, %q is elevated", got)
	}
	if !Has("a apps", Apps) || Has("app", Apps) || Has("", Apps) {
		t.Error("a scope is found by its whole name")
	}
}

// A refresh may narrow what was granted, and a consent to more is one to less (decision 53).
func TestScopeOfACapabilityHoldsAllItsTools(t *testing.T) {
	for _, c := range []struct {
		granted, asked string
		want           bool
	}{
		{"openid tools", "tools:shop tools:b:support openid", true},
		{"tools:shop", "tools:shop", true},
		{"tools:shop", "tools", false},
		{"tools:shop", "tools:b:shop", false},
		{"openid", "tools:shop", false},
		{"tools", "tools apps", false},
		{"", "", true},
	} {
		if Within(c.granted, c.asked) != c.want {
			t.Errorf("%q within %q: %v", c.asked, c.granted, !c.want)
		}
	}
}

func TestScopesOfOneToolAndOfReadOnlyToolsAreDistinct(t *testing.T) {
	for _, c := range []struct {
		granted, asked string
		want           bool
	}{
		{"tools", "tools/read tools:shop/getPet", true},
		{"tools:shop", "tools:shop/getPet", true},
		{"tools:shop", "tools:shop/getPet tools/read", false},
		{"tools:shop/getPet", "tools:shop", false},
		{"tools:shop/getPet", "tools:shop/putPet", false},
		{"tools/read", "tools:shop/getPet", false},
		{"tools/read", "tools", false},
		{"tools:read", "tools/read", false},
	} {
		if got := Within(c.granted, c.asked); got != c.want {
			t.Errorf("Within(%q, %q) = %t, want %t", c.granted, c.asked, got, c.want)
		}
	}
	for _, bad := range []string{"tools:shop/", "tools:/getPet", "tools:shop/a/b", "tools:b:x/y", "tools/", "tools/write",
		"tools:shop/a b"} {
		if IsTools(bad) || Grantable(bad) {
			t.Errorf("%q is taken for a scope of tools", bad)
		}
	}
}

func TestAPIKeyHoldsToolsAndIdentityAndNoMore(t *testing.T) {
	for name, want := range map[string]bool{
		"tools": true, "tools/read": true, "tools:shop": true, "tools:shop/getPet": true, "tools:b:support": true,
		"openid": true, "profile": true, "email": true, "apps": false, "app": false, "": false, "offline_access": false,
		"groups": false,
		"tools:": false,
	} {
		if OfKeys(name) != want {
			t.Errorf("OfKeys(%q) = %t", name, !want)
		}
	}
}

// Decision 55: a user may allow less than was asked for, and is not asked again for the same.
func TestGrantIsWhatTheUserAllowedOfWhatIsWanted(t *testing.T) {
	for _, c := range []struct{ wanted, asked, allowed, granted string }{
		{"openid tools", "openid tools", "openid tools", "openid tools"},
		{"openid tools", "openid tools", "openid tools:b:support", "openid tools:b:support"},
		{"tools openid", "openid tools", "openid tools:shop/getPet tools:shop/putPet",
			"tools:shop/getPet tools:shop/putPet openid"},
		{"tools:shop", "tools", "tools", "tools:shop"},
		{"tools:shop", "tools", "tools:b:support", ""}, // nothing of the capability was allowed
		{"tools:shop", "tools", "tools:shop/getPet tools:b:support", "tools:shop/getPet"},
		{"tools:b:support tools:shop/getPet", "tools", "tools:b:support", ""}, // more than the bundle, for the first time
		{"tools:b:support tools:shop/getPet", "tools tools:shop/getPet", "tools:b:support", "tools:b:support"},
		{"tools", "openid", "openid", ""},
		{"tools:shop", "tools:bank", "tools:bank", ""}, // another one was asked for
		{"openid email", "openid", "openid", ""},
		{"openid", "openid email", "openid", "openid"},
		{"email", "email", "openid", ""}, // only tools are allowed in part
		{"", "", "", ""},
	} {
		got, ok := Narrowed(c.wanted, c.asked, c.allowed)
		if got != c.granted && ok || ok != (c.granted != "" || c.wanted == "") {
			t.Errorf("Narrowed(%q, %q, %q) = %q, %t, want %q", c.wanted, c.asked, c.allowed, got, ok, c.granted)
		}
	}
}
