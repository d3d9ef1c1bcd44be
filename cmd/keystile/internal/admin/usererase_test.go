package admin

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestUserIsErasedByNameOrBySubAndTheTrailHasTheSubAlone(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		if served {
			o.serve()
		}
		subs := []string{o.user("ada"), o.user("bob"), o.user("carl")}
		o.session(subs[0])
		o.session(subs[0])
		o.trail, o.forgotten = nil, nil
		v := o.must("user", "erase", "ADA")
		if v["sub"] != subs[0] || v["erased"] != true || v["sessions_ended"] != 2.0 || v["logins"] != 1.0 {
			t.Errorf("served %t: printed %v", served, v)
		}
		o.must("user", "erase", "--yes", subs[1])
		if rows := o.rows("user", "list"); len(rows) != 1 || rows[0]["sub"] != subs[2] {
			t.Errorf("served %t: left are %v", served, rows)
		}
		if len(o.trail) != 2 || !strings.HasPrefix(o.trail[0].Detail, "user erase "+subs[0]+" by command line, uid ") ||
			o.trail[0].User != subs[0] || strings.Contains(strings.ToLower(fmt.Sprint(o.trail)), "ada") {
			t.Errorf("served %t: on the trail is %v", served, o.trail)
		}
		if strings.Join(o.forgotten, " ") != subs[0]+" "+subs[1] {
			t.Errorf("served %t: the running server forgot %q", served, o.forgotten)
		}
		o.wantFailure(1, `no user "ada"`, "user", "erase", "ada")
		if v := o.must("user", "create", "--username", "ada", "--password", "correct horse battery"); v["sub"] == subs[0] {
			t.Error("the next user of the name has the same sub")
		}
	}
}

func TestEraseRefusesOwnersAndTheLastAdministrator(t *testing.T) {
	o := newOffice(t)
	root := o.must("user", "create", "--username", "root", "--password", "correct horse battery", "--role",
		"admin")["sub"].(string)
	ada := o.user("ada")
	id := o.must("app", "create", "--name", "Shop", "--domain", "a.example", "--owner", "ada")["client_id"].(string)
	o.trail = nil
	o.wantFailure(1, "1 applications and 0 capabilities: hand them over or delete them first", "user", "erase", "ada")
	o.wantFailure(1, "the only administrator", "user", "erase", root)
	for _, sub := range []string{root, ada} {
		if u, err := o.target.Store.User(t.Context(), sub); err != nil || u.Disabled || len(o.trail) > 0 {
			t.Errorf("the user is %+v, %v; on the trail is %v", u, err, o.trail)
		}
	}
	o.must("app", "set", id, "--owner", "root")
	o.must("user", "erase", "ada")
}

// An erasure that cannot be noted is not done; the next time finishes it.
func TestUserIsNotErasedWithoutANote(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada")
	o.unwritten = errors.New("the store is away")
	o.wantFailure(1, "the store is away", "user", "erase", "ada")
	if u, err := o.target.Store.User(t.Context(), ada); err != nil || !u.Disabled {
		t.Errorf("the user is %+v, %v", u, err)
	}
	o.unwritten = nil
	o.wantFailure(2, "being erased", "user", "enable", "ada")
	o.must("user", "erase", "ada")
	if _, err := o.target.Store.User(t.Context(), ada); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the user is %v", err)
	}
}
