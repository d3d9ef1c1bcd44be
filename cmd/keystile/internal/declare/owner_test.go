package declare

import (
	"strings"
	"testing"
)

// A capability may be given to a group. A bundle that named it before does not open it any more (decision 100). If the
// bundle has no other tool, a run that changes its rules says what to do.
func TestCapabilityIsGivenToAGroupByItsDocument(t *testing.T) {
	p := newPlace(t)
	docs := func(owner, rule string) []Document {
		return p.read("kind: group\nname: ops\n---\nkind: capability\nname: pets\nupstream_url: https://up.example.com\n" +
			"owner: " + owner + "\nopenapi: '" + pets("getPet") + "'\n---\nkind: bundle\nname: kit\ntools: [pets__getPet]\n" +
			"rules: [{subject: " + rule + "}]")
	}
	p.run(docs("root", "everyone"), Options{})
	p.run(docs("group:ops", "everyone"), Options{})
	if c, err := p.store.Capability(t.Context(), "pets"); err != nil || c.Owner != "group:ops" {
		t.Errorf("the owner is %q, %v", c.Owner, err)
	}
	if again := p.run(docs("group:ops", "everyone"), Options{}); len(again) != 1 || again[0] != None {
		t.Errorf("a second run does %q", again)
	}
	_, err := p.Apply(t.Context(), docs("group:ops", "group:ops"), Options{})
	if err == nil || !strings.Contains(err.Error(), "remove the bundle, and make it again") {
		t.Errorf("a change of the bundle: %v", err)
	}
}
