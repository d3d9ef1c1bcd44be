package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// A record that --json prints has the shape that the API gives it: null for what is not there,
// objects for what has parts.
func TestJSONHasTheShapeOfTheAPI(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	v := o.must("app", "show", id)
	if brand, there := v["brand"]; !there || brand != nil {
		t.Errorf("the brand of an application without one is %v (there: %t), want null", brand, there)
	}
	secret := v["secrets"].([]any)[0].(map[string]any)
	if secret["created_at"] != v["created_at"] || secret["expires_at"] != nil || v["tier_expires_at"] != nil ||
		v["legacy_success_code"] != 1.0 {
		t.Errorf("an application is %v", v)
	}
	o.must("app", "rotate-secret", id)
	secrets := o.must("app", "show", id)["secrets"].([]any)
	if old := secrets[1].(map[string]any); len(secrets) != 2 || old["expires_at"] == nil {
		t.Errorf("the secrets are %v", secrets)
	}
	o.must("app", "rotate-secret", id, "--overlap", "0")
	if secrets := o.must("app", "show", id)["secrets"].([]any); len(secrets) != 1 {
		t.Errorf("the secrets are %v, want none that has ended", secrets)
	}
	o.ordered(id, "white_label", storage.OrderPending)
	order := o.rows("billing", "orders")[0]
	for _, name := range []string{"effective_at", "expires_at", "decided_at"} {
		if at, there := order[name]; !there || at != nil {
			t.Errorf("%s of an order that waits is %v", name, at)
		}
	}
	o.user("ada")
	if u := o.rows("user", "list")[0]; u["email_verified"] != false || u["nickname"] != "" ||
		u["updated_at"] != u["created_at"] {
		t.Errorf("a user is %v", u)
	}
	for _, words := range []string{"app list", "user list", "billing orders", "key list", "app show " + id} {
		if _, out, _ := o.run("", append(strings.Fields(words), "--json")...); strings.Contains(out, `_at":""`) || strings.Contains(out, `_until":""`) {
			t.Errorf("%s: a time that is none is no null: %s", words, out)
		}
	}
	if got, err := json.Marshal(when(o.stored(id).Secrets[0].ExpiresAt)); err != nil || string(got) != "null" {
		t.Errorf("no time is %s, %v", got, err)
	}
}

func TestEmptyListSaysWhatToDo(t *testing.T) {
	o := workshop(t, false)
	empty := newOffice(t)
	for words, want := range map[string]string{
		"app list": "no applications yet: keystile app create\n", "billing orders": "no orders\n",
		"session list ada":       "not signed in anywhere\n",
		"capability list":        "no capabilities yet: keystile capability register\n",
		"capability bundle list": "no bundles yet: keystile capability bundle create\n",
	} {
		if code, out, errs := o.run("", strings.Fields(words)...); code != 0 || out != want {
			t.Errorf("%s = %d %q %s, want %q", words, code, out, errs, want)
		}
	}
	if code, out, _ := empty.run("", "user", "list"); code != 0 || out != "no users yet: keystile user create\n" {
		t.Errorf("user list = %d %q", code, out)
	}
}

func TestColumnsAreAlignedWhateverIsEmpty(t *testing.T) {
	got := aligned([][]string{{"TOOL", "METHOD", "ARGUMENTS"}, {"long_name", "", ""}, {"a", "GET", "id"},
		{"b", "DELETE", ""}})
	want := "TOOL       METHOD  ARGUMENTS\nlong_name\na          GET     id\nb          DELETE\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestListShowsPeopleTheColumnsThatMatter(t *testing.T) {
	o := newOffice(t)
	o.app()
	_, out, _ := o.run("", "app", "list")
	head, _, _ := strings.Cut(out, "\n")
	if got := fmt.Sprint(strings.Fields(head)); got != "[CLIENT_ID NAME DOMAINS PUBLIC TIER FIRST_PARTY DISABLED OWNER "+
		"CREATED_AT]" {
		t.Errorf("the columns are %s", got)
	}
}

func TestStatusThatNoOrderHasIsAWrongCall(t *testing.T) {
	newOffice(t).wantFailure(2, "--status foo: it is one of pending, contact, approved, rejected, canceled", "billing",
		"orders", "--status", "foo")
}

func TestShapeOfExistingRecordsIsSaidInPlainWords(t *testing.T) {
	err := plain(fmt.Errorf("username %q is taken: %w", "ada", fmt.Errorf("%w: login %q", storage.ErrExists, "self=ada")))
	if err.Error() != `username "ada" is taken` {
		t.Errorf("it says %q", err)
	}
}
