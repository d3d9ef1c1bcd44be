package admin

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/event"
)

// Decision 57: what an operator does to what is somebody's is told to them,
// and nothing that matters to nobody.
func TestOwnersAreToldWhatCommandsDoToWhatIsTheirs(t *testing.T) {
	o := newOffice(t)
	var told []string
	o.target.Recorder.Notifier = mailbox(func(sub string, n event.Notice) {
		told = append(told, sub+" "+n.Kind+" "+n.App+" "+n.Detail)
	})
	ada := o.user("ada")
	id := o.must("app", "create", "--name", "Shop", "--domain", "shop.example", "--owner", "ada")["client_id"].(string)
	nobodys, _ := o.app()
	o.must("app", "rotate-secret", nobodys)
	for _, c := range []struct {
		want  string
		words []string
	}{
		{"secret Shop by the operator: secret rotated", []string{"app", "rotate-secret", id}},
		{"app Shop by the operator: changed: domains, first_party",
			[]string{"app", "set", id, "--add-domain", "more.example", "--first-party"}},
		{"", []string{"app", "set", id, "--brand-name", "Shop"}},
		{"app Shop by the operator: changed: owner", []string{"app", "set", id, "--owner="}},
		{"role  by the operator: role is developer now", []string{"user", "set", "ada", "--role", "developer"}},
		{"account  by the operator: password changed, and signed out everywhere",
			[]string{"user", "set", "ada", "--password", "battery staple horse"}},
		{"", []string{"user", "set", "ada", "--nickname", "Ada"}},
	} {
		told = nil
		o.must(c.words...)
		var want []string
		if c.want != "" {
			want = []string{ada + " " + c.want}
		}
		if !slices.Equal(told, want) {
			t.Errorf("%q: told %q, want %q", c.words, told, want)
		}
	}
	id = o.must("app", "create", "--name", "Gone", "--domain", "gone.example", "--owner", "ada")["client_id"].(string)
	if o.must("app", "delete", id); !slices.Contains(told, ada+" app Gone by the operator: application deleted") {
		t.Errorf("of a deletion they are told %q", told)
	}
	o.target.Recorder.Notifier = nil // nobody serves
	o.must("user", "set", "ada", "--role", "none")
}
