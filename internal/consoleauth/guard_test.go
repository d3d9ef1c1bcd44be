package consoleauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
)

// Every role at every check. An unknown role may do what no role may.
func TestRoleMayWhatItIsFor(t *testing.T) {
	type may struct{ admin, reader, developer, writer, seesOthers, changesOthers, changesOwn bool }
	for role, want := range map[string]may{
		storage.RoleAdmin:     {true, true, true, true, true, true, true},
		storage.RoleDeveloper: {false, false, true, true, false, false, true},
		storage.RoleAuditor:   {false, true, false, false, true, false, false},
		"":                    {false, false, false, true, false, false, true},
		"owner":               {false, false, false, true, false, false, true},
	} {
		a := admin.Actor{User: storage.User{Sub: "u1", Role: role}, AuthTime: time.Now()}
		got := may{a.Admin() == nil, a.Reader() == nil, a.Developer() == nil, a.Writer() == nil, a.Sees("u2"),
			a.Changes("u2"), a.Changes("u1")}
		if got != want || !a.Sees("u1") {
			t.Errorf("the role %q: %+v, want %+v", role, got, want)
		}
		if a.Sees("") != want.seesOthers || a.Changes("") != want.changesOthers {
			t.Errorf("the role %q has what is nobody's", role)
		}
	}
	if nobody := (admin.Actor{}); nobody.Sees("") || nobody.Changes("") {
		t.Error("who has no name has what is nobody's")
	}
}

// table is a session, and the user it is of, who has a role.
type table string

func (table) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{UserID: "u1", AuthTime: time.Now()}, nil
}

func (table) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

func (role table) User(context.Context, string) (storage.User, error) {
	return storage.User{Sub: "u1", Role: string(role)}, nil
}

// A check that is forgotten opens nothing: Actor refuses who has no role whatever it is asked for,
// and an auditor is let in nowhere but to read.
func TestGuardWithoutAnyCheckGivesNoMoreThanTheRole(t *testing.T) {
	for role, want := range map[string][4]error{ // Actor to read and to change, Owner likewise
		storage.RoleAdmin:     {},
		storage.RoleDeveloper: {},
		storage.RoleAuditor:   {nil, admin.ReadsOnly, nil, admin.ReadsOnly},
		"":                    {admin.NoRole, admin.NotAllowed, nil, nil},
		"owner":               {admin.NoRole, admin.NotAllowed, nil, nil},
	} {
		g, err := consoleauth.New(consoleauth.Config{BaseURL: "https://id.example.com", Visitors: table(role),
			Users: table(role)})
		if err != nil {
			t.Fatal(err)
		}
		for i, who := range []func(*http.Request, ...consoleauth.Check) (admin.Actor, error){g.Actor, g.Owner} {
			for j, method := range []string{"GET", "DELETE"} {
				_, err := who(httptest.NewRequest(method, "/", nil))
				if !errors.Is(err, want[2*i+j]) {
					t.Errorf("the role %q, %s, guard %d: %v, want %v", role, method, i, err, want[2*i+j])
				}
			}
		}
	}
}

// developer is the user of the session, as signing in has read it: with another role than the table has.
func developer(*http.Request) (storage.Session, storage.User, error) {
	return storage.Session{UserID: "u1", AuthTime: time.Now()}, storage.User{Sub: "u1", Role: storage.RoleDeveloper}, nil
}

// The user that signing in has read counts if it is of the very table that knows the roles. One of
// another table does not: an administrator there may be a different user.
func TestUserOfAnotherTableHasTheRoleOfTheTableThatIsAsked(t *testing.T) {
	for want, visit := range map[string]func(*http.Request) (storage.Session, storage.User, error){
		storage.RoleDeveloper: developer, storage.RoleAuditor: nil,
	} {
		auditor := table(storage.RoleAuditor)
		g, err := consoleauth.New(consoleauth.Config{BaseURL: "https://id.example.com", Visitors: auditor, Users: auditor,
			Visit: visit})
		if err != nil {
			t.Fatal(err)
		}
		if who, err := g.Actor(httptest.NewRequest("GET", "/", nil)); err != nil || who.Role != want || who.Sub != "u1" {
			t.Errorf("%+v %v, want the role %s", who, err, want)
		}
	}
}
