package declare

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/service"
)

// stranger is a user whom no rule names.
var stranger = toolaccess.Who{User: "stranger", Role: storage.RoleDeveloper}

// watch fails the test if, after any write from now on, a stranger may use a tool that documents deny them. Where no
// rule decides, everyone may.
func (p *place) watch(docs []Document) {
	lists := map[string]access.List{}
	for _, d := range docs {
		var said accessDoc
		if text, err := json.Marshal(d.Fields); d.Kind == kindAccess && (err != nil || json.Unmarshal(text, &said) != nil) {
			p.Fatalf("%v: %v", d, err)
		}
		if d.Kind == kindAccess {
			lists[d.Name] = access.List{Member: d.Name, Rules: stored(*said.Rules)}
		}
	}
	p.backend.written = func() {
		for member, want := range lists {
			c, tools, err := p.store.Tools(p.Context(), member)
			if err != nil || !c.Publish {
				continue
			}
			is, err := p.store.Access(p.Context(), member)
			if err != nil {
				p.Fatal(err)
			}
			for _, tool := range tools {
				if !toolaccess.Decide(want, true, stranger, c, tool).Allowed &&
					toolaccess.Decide(is, true, stranger, c, tool).Allowed {
					p.Errorf("after write %d a stranger may use %s of %s", p.backend.writes, tool.Name, member)
				}
			}
		}
	}
}

// published says which capabilities are on the bus.
func (p *place) published(member string) bool {
	p.Helper()
	c, err := p.store.Capability(p.Context(), member)
	if err != nil {
		p.Fatal(err)
	}
	return c.Publish
}

// guarded declares capabilities with access lists, and with none.
func guarded() string {
	text := "kind: group\nname: ops"
	for name, more := range map[string]string{"plain": "", "loud": "publish: true\n", "off": "publish: false\n",
		"bare": ""} {
		text += "\n---\nkind: capability\nname: " + name + "\nupstream_url: https://up.example.com\n" + more + "openapi: '" +
			pets("getPet") + "'"
	}
	return text + "\n---\nkind: access\nname: plain\nrules: [{subject: group:ops}]" +
		"\n---\nkind: access\nname: loud\nrules: [{subject: everyone, deny: true, tools: [getPet]}]" +
		"\n---\nkind: access\nname: off\nrules: [{subject: group:ops}]"
}

// A run breaks off at each of its writes. A capability that it has published at last stays as its operator leaves it,
// because the document does not speak of that.
func TestNoNewToolIsForSomebodyItsListDenies(t *testing.T) {
	whole := newPlace(t)
	docs := whole.read(guarded())
	began := whole.backend.writes
	whole.run(docs, Options{})
	writes, want := whole.backend.writes-began, whole.state()
	for member, on := range map[string]bool{"plain": true, "loud": true, "off": false, "bare": true} {
		if whole.published(member) != on {
			t.Errorf("%s is on the bus: %t, want %t", member, !on, on)
		}
	}
	for n := range writes {
		synctest.Test(t, func(t *testing.T) {
			p := newPlace(t)
			p.watch(docs)
			p.backend.fails = p.backend.writes + n + 1
			p.Apply(t.Context(), docs, Options{})
			time.Sleep(service.ApplyTime)
			p.run(docs, Options{})
			if got := p.state(); got != want {
				t.Errorf("broken at write %d: %s, want %s", n+1, got, want)
			}
			if _, err := p.c.Registry.SetPublished(t.Context(), p.c.Owner, "plain", false); err != nil {
				t.Fatal(err)
			}
			if p.run(docs, Options{}); p.published("plain") {
				t.Errorf("broken at write %d: it is published against the will of its operator", n+1)
			}
		})
	}
}

func TestPublishingWaitsForAListThatIsNewToo(t *testing.T) {
	p := newPlace(t)
	text := "kind: capability\nname: zoo\nupstream_url: https://up.example.com\nopenapi: '" + pets("getPet") +
		"'\npublish: "
	p.run(p.read(text+"false"), Options{})
	docs := p.read(text + "true\n---\nkind: access\nname: zoo\nrules: [{subject: role:admin}]")
	p.watch(docs)
	r, err := p.Apply(t.Context(), docs, Options{DryRun: true})
	if err != nil || len(r.Steps) != 3 || r.Steps[2].Kind != kindCapability ||
		r.Steps[2].Changes[0].Field != publishField {
		t.Errorf("a dry run says %+v, %v", r.Steps, err)
	}
	p.run(docs, Options{})
	if !p.published("zoo") {
		t.Error("it is not published")
	}
}
