package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

func TestAPIKeysAreMadeListedAndRevokedWithAndWithoutAServer(t *testing.T) {
	for _, served := range []bool{false, true} {
		o, running, told := newOffice(t), &provider{}, 0
		sub := o.user("ada")
		if served {
			o.target.Provider = running
			o.target.Recorder.Notifier = mailbox(func(to string, n event.Notice) {
				if to == sub && strings.HasPrefix(n.Detail, "by the operator: API key ") {
					told++
				}
			})
			o.serve()
			o.held = errLocked
		}
		began := time.Now()
		v := o.must("apikey", "create", "ada", "--name", "nightly build", "--scope", "tools:shop tools/read", "--days", "30")
		text, id := v["key"].(string), v["id"].(string)
		k, err := o.target.Store.APIKey(t.Context(), id)
		if err != nil || !handle.IsAPIKey(text) || handle.Hash(text) != id || k.UserID != sub || k.Name != "nightly build" ||
			k.Scope != "tools/read tools:shop" ||
			k.ExpiresAt.Before(began.Add(30*24*time.Hour)) || k.ExpiresAt.After(time.Now().Add(30*24*time.Hour)) {
			t.Fatalf("made %v, stored %+v, %v", v, k, err)
		}
		second := o.must("apikey", "create", sub, "--name", "backup")
		if second["scope"] != "tools" {
			t.Errorf("by default the scope is %v", second["scope"])
		}
		rows := o.rows("apikey", "list", "ada")
		if len(rows) != 2 || rows[1]["id"] != id || rows[1]["used_at"] != nil || rows[1]["key"] != nil {
			t.Errorf("listed are %v", rows)
		}
		if v := o.must("apikey", "revoke", id); v["id"] != id || v["revoked"] != true {
			t.Errorf("revoke printed %v", v)
		}
		ended := o.revocations()
		if served {
			ended = running.revoked
		}
		if len(ended) != 1 || ended[0].Kind != driver.RevokeJTI || ended[0].ID != id ||
			ended[0].Until.Before(time.Now().Add(time.Hour)) {
			t.Errorf("revoked %+v", ended)
		}
		if rows := o.rows("apikey", "list", "ada"); len(rows) != 1 {
			t.Errorf("listed are %v", rows)
		}
		details := ""
		for _, e := range o.trail {
			details += e.Detail + "\n"
		}
		if strings.Contains(details, text) || !strings.Contains(details,
			"API key "+id+" \"tools/read tools:shop\" -> made") || !strings.Contains(details, "API key "+id+" -> revoked") {
			t.Errorf("the trail holds %q", details)
		}
		if strings.Contains(o.log.String(), text) {
			t.Error("the log holds the key")
		}
		if served && told != 3 {
			t.Errorf("the user was told %d times, want 3", told)
		}
	}
}

func TestKeyAddRefusesWhatIsWrong(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	o.wantFailure(2, "1 to 365", "apikey", "create", "ada", "--name", "x", "--days", "366")
	o.wantFailure(2, "1 to 365", "apikey", "create", "ada", "--name", "x", "--days", "0")
	o.wantFailure(2, "cannot hold \"apps\"", "apikey", "create", "ada", "--name", "x", "--scope", "tools apps")
	o.wantFailure(2, "give the key a name", "apikey", "create", "ada", "--name", " ")
	o.wantFailure(2, "scope", "apikey", "create", "ada", "--name", "x", "--scope", " ")
	o.wantFailure(1, "there is no user", "apikey", "create", "nobody", "--name", "x")
	for range 20 {
		o.must("apikey", "create", "ada", "--name", "x")
	}
	o.wantFailure(2, "no more than 20", "apikey", "create", "ada", "--name", "x")
	o.user("bob")
	o.must("user", "disable", "bob")
	o.wantFailure(1, "user enable bob", "apikey", "create", "bob", "--name", "x")
	text := handle.NewAPIKey()
	o.wantFailure(1, "there is no API key", "apikey", "revoke", text)
	if _, _, errs := o.run("", "apikey", "revoke", text); strings.Contains(errs, text) {
		t.Errorf("a key that is typed in place of its id is repeated: %s", errs)
	}
}

func TestDisabledUserHasNoAPIKeys(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	o.must("apikey", "create", "ada", "--name", "x")
	o.must("user", "disable", "ada")
	o.must("user", "enable", "ada")
	if rows := o.rows("apikey", "list", "ada"); len(rows) != 0 {
		t.Errorf("what was ended is back: %v", rows)
	}
}
