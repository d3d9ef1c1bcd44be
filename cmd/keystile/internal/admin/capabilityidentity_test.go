package admin

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/lasthop"
)

func TestUpstreamLearnsOfCallersWhatTheOperatorChooses(t *testing.T) {
	o := workshop(t, false)
	words := []string{"capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi",
		file(t, pets)}
	is := func(want lasthop.Identity, shown ...string) {
		t.Helper()
		c, err := o.target.Store.Capability(t.Context(), "pets")
		if err != nil || c.Identity != want {
			t.Errorf("stored is %+v, %v, want %+v", c.Identity, err, want)
		}
		v := o.must("capability", "show", "pets")
		for i, name := range []string{"identity", "identity_subject", "identity_jti"} {
			if text, _ := v[name].(string); text != append(shown, "", "")[i] {
				t.Errorf("%s is shown as %v, want %v", name, v[name], shown)
			}
		}
	}
	o.must(words...)
	is(lasthop.Identity{}, "none")
	o.must(append(words, "--identity", "signed", "--identity-subject", "openid", "--identity-jti", "on")...)
	is(lasthop.Identity{Kind: lasthop.Signed, Subject: lasthop.OpenID}, "signed", "openid", "on")
	o.must("capability", "update", "pets", "--identity-jti", "off")
	is(lasthop.Identity{Kind: lasthop.Signed, Subject: lasthop.OpenID, JTI: lasthop.Off}, "signed", "openid", "off")
	o.must("capability", "update", "pets", "--label", "Pets")
	is(lasthop.Identity{Kind: lasthop.Signed, Subject: lasthop.OpenID, JTI: lasthop.Off}, "signed", "openid", "off")
	if last := o.trail[len(o.trail)-2].Detail; !strings.Contains(last, `identity_jti "on" -> "off"`) {
		t.Errorf("the trail says %s", last)
	}
	o.must("capability", "update", "pets", "--identity", "headers")
	is(lasthop.Identity{Kind: lasthop.Headers}, "headers")
	o.wantFailure(1, "none, headers, signed or bearer", "capability", "update", "pets", "--identity", "jwt")
	o.wantFailure(1, "is for products", "capability", "update", "pets", "--identity", "bearer")
	o.wantFailure(1, "are for identity signed", "capability", "update", "pets", "--identity-jti", "off")
	is(lasthop.Identity{Kind: lasthop.Headers}, "headers")
	o.must("capability", "update", "pets", "--identity=")
	is(lasthop.Identity{}, "none")
}
