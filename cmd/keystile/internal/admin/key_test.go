package admin

import (
	"testing"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

func TestRotationMovesEachKeyOneStepOn(t *testing.T) {
	o := newOffice(t)
	server := &provider{}
	o.target.Provider = server
	o.serve()
	o.wantFailure(1, "keys are made when the server first needs them", "key", "rotate")
	if _, err := token.OpenKeys(t.Context(), o.target.Store, token.ES256, token.EdDSA); err != nil {
		t.Fatal(err)
	}
	before := o.states(token.ES256)
	v := o.must("key", "rotate")
	after := o.states(token.ES256)
	if after[storage.KeyActive] != before[storage.KeyNext] || after[storage.KeyRetired] != before[storage.KeyActive] ||
		v["kid"] != after[storage.KeyActive] {
		t.Errorf("from %v to %v, printed %v", before, after, v)
	}
	if others := o.states(token.EdDSA); others[storage.KeyRetired] != "" || server.reloaded != 1 {
		t.Errorf("other keys moved too: %v; reloaded %d times, want 1", others, server.reloaded)
	}
	o.must("key", "rotate", "--alg", "EdDSA")
	for _, row := range o.rows("key", "list") {
		if row["state"] != storage.KeyRetired {
			continue
		}
		end, err := time.Parse(time.RFC3339, row["expires_at"].(string))
		if left := time.Until(end); err != nil || left < o.target.Signed || left > o.target.Signed+2*token.Skew {
			t.Errorf("a retired key leaves in %v, want a little more than %v", left, o.target.Signed)
		}
	}
}

func TestKeyIsWithdrawnOnlyOnceRetired(t *testing.T) {
	o := newOffice(t)
	if _, err := token.OpenKeys(t.Context(), o.target.Store); err != nil {
		t.Fatal(err)
	}
	o.must("key", "rotate")
	keys := o.states(token.ES256)
	for _, state := range []string{storage.KeyActive, storage.KeyNext} {
		o.wantFailure(1, "not retired", "key", "retire", "--", keys[state])
	}
	o.wantFailure(1, "there is no key", "key", "retire", "--", keys[storage.KeyRetired][1:])
	if v := o.must("key", "retire", "--", keys[storage.KeyRetired]); v["withdrawn"] != true {
		t.Errorf("printed %v", v)
	}
}

func TestServerThatKeepsItsOldKeysIsSpokenOf(t *testing.T) {
	o := newOffice(t)
	if _, err := token.OpenKeys(t.Context(), o.target.Store); err != nil {
		t.Fatal(err)
	}
	o.target.Provider = &provider{fails: errLocked}
	o.serve()
	o.wantFailure(1, "the server goes on with the keys it has", "key", "rotate")
}

// states are the kids of an algorithm by their state.
func (o *office) states(alg string) map[string]string {
	o.t.Helper()
	states := map[string]string{}
	for _, row := range o.rows("key", "list") {
		if row["alg"] == alg {
			states[row["state"].(string)] = row["kid"].(string)
		}
	}
	return states
}

func TestSettingsAreListedWithTheirDefaults(t *testing.T) {
	o := newOffice(t)
	o.must("setting", "set", "oauth_force_pkce", "1")
	if rows := o.rows("setting", "list"); len(rows) != 2 || rows[1]["value"] != "auto" ||
		rows[0]["name"] != storage.SettingForcePKCE || rows[0]["value"] != "1" || rows[0]["default"] != "0" {
		t.Errorf("listed %v", rows)
	}
}
