package admin

import "testing"

func TestOperatorSaysWhetherTokensAreBound(t *testing.T) {
	o := newOffice(t)
	id := o.must("app", "create", "--name", "Shop", "--domain", "a.example", "--dpop", "allowed")["client_id"].(string)
	if v := o.must("app", "show", id); v["dpop"] != "allowed" {
		t.Errorf("dpop is %v", v["dpop"])
	}
	for _, mode := range []string{"required", "off", "allowed"} {
		if v := o.must("app", "set", id, "--dpop", mode); v["dpop"] != mode {
			t.Errorf("dpop is %v", v["dpop"])
		}
	}
	o.wantFailure(2, "none of off, allowed, required", "app", "set", id, "--dpop", "always")
	other := o.must("app", "create", "--name", "Other", "--domain", "a.example")["client_id"].(string)
	if v := o.must("app", "show", other); v["dpop"] != "off" {
		t.Errorf("where nothing is said dpop is %v", v["dpop"])
	}
}
