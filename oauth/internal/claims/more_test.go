package claims

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

func TestMembersThatAreAddedAreJSON(t *testing.T) {
	object := AppendUserInfo(nil, storage.User{Sub: "ada"}, "https://id.example.com", Profile)
	object = Extend(object, AppendRuled(AppendGroups(nil, []string{"ops", `a"b`}),
		map[string]any{"z": json.RawMessage(`{"a":[1]}`), "a": "<&>", "m": true}))
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil || len(all) != 13+4 {
		t.Fatalf("%s: %v, %d members", object, err, len(all))
	}
	for name, want := range map[string]string{"groups": `["ops","a\"b"]`, "z": `{"a":[1]}`, "m": "true"} {
		if string(all[name]) != want {
			t.Errorf("%s is %s, want %s", name, all[name], want)
		}
	}
	if got := string(AppendGroups(nil, nil)); got != `,"groups":[]` {
		t.Errorf("no groups are %s", got)
	}
}

func TestFieldsSayWhatUserInfoSays(t *testing.T) {
	u := storage.User{Username: "ada", Email: "ada@example.com", Gender: "female", Location: "London",
		LoginType: "feishu", CreatedAt: time.Unix(1700000000, 0)}
	for field, want := range map[string]any{"username": "ada", "name": "ada", "nickname": "ada", "gender": "female",
		"location": "London", "email": "ada@example.com", "email_verified": false, "login_type": "feishu",
		"created_at": int64(1700000000)} {
		rules := []claim.Rule{{Claim: "x", From: "field:" + field}}
		if err := claim.Check(rules); err != nil {
			t.Error(err)
		}
		if got := claim.Of(rules, claim.InIDToken, []string{"openid"}, Known(u, nil))["x"]; got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	nobody := Known(storage.User{}, nil).Fields
	if nobody["email_verified"] != nil || nobody["created_at"] != nil {
		t.Errorf("of a user without an address and a date it says %v", nobody)
	}
}

func TestRulesAreReadAgainAfterAChangeOrFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, reads := storage.App{ID: "a", Name: "App", Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}, 0
		apps := NewApps(func(context.Context, string) (storage.App, error) {
			reads++
			return app, nil
		})
		rules := func(what string, want, wantReads int) {
			t.Helper()
			got, err := apps.Of(t.Context(), "a")
			if err != nil || got.ID != "a" || len(got.Claims) != want || reads != wantReads || got.Secrets != nil {
				t.Errorf("%s: %+v, %v after %d readings, want %d rules after %d", what, got, err, reads, want, wantReads)
			}
		}
		rules("at first", 0, 1)
		app.Claims = []claim.Rule{{Claim: "x", From: "value:1"}}
		rules("nobody has told", 0, 1)
		apps.Changed(storage.Change{Kind: storage.ChangedUsers, IDs: []string{"a"}})
		rules("a user has changed", 0, 1)
		apps.Changed(storage.Change{Kind: storage.ChangedApps, IDs: []string{"a"}})
		rules("it has changed", 1, 2)
		app.Claims = nil
		apps.Changed(storage.Change{Kind: storage.ChangedApps})
		rules("any may have changed", 0, 3)
		app.Claims = []claim.Rule{{Claim: "x", From: "value:1"}}
		time.Sleep(5*time.Second - 1)
		rules("soon", 0, 3)
		time.Sleep(time.Nanosecond)
		rules("after five seconds", 1, 4)
	})
}

func TestRulesThatAreKeptCostNoMemory(t *testing.T) {
	apps := NewApps(func(context.Context, string) (storage.App, error) { return storage.App{ID: "a"}, nil })
	if n := testing.AllocsPerRun(100, func() { apps.Of(context.Background(), "a") }); n != 0 {
		t.Errorf("it takes %v allocations", n)
	}
}
