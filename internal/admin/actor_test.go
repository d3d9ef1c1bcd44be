package admin

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

// The operator at the command line may do everything, and the audit trail says where they are.
func TestOperatorMayDoEverythingAndIsNamed(t *testing.T) {
	a := CommandLine()
	for name, err := range map[string]error{
		"Admin": a.Admin(), "Reader": a.Reader(), "Developer": a.Developer(), "Writer": a.Writer(), "Fresh": a.Fresh(),
		"Proven": a.Proven(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !a.Sees("u1") || !a.Changes("u1") || !strings.HasPrefix(a.Name(), "command line, uid ") {
		t.Errorf("the operator is %q: %+v", a.Name(), a)
	}
}

// The zero Actor, which a front has forgotten to fill in, may do nothing.
func TestZeroActorMayDoNothing(t *testing.T) {
	var a Actor
	for name, err := range map[string]error{
		"Admin": a.Admin(), "Reader": a.Reader(), "Developer": a.Developer(), "Fresh": a.Fresh(), "Proven": a.Proven(),
	} {
		if err == nil {
			t.Errorf("%s lets the zero Actor pass", name)
		}
	}
	if a.Sees("") || a.Changes("") || a.Sees("u1") || a.Changes("u1") {
		t.Error("the zero Actor has what is somebody's, or nobody's")
	}
}

// An application that acts for itself has no role, whatever else is true of it.
func TestApplicationHasNoRole(t *testing.T) {
	a := Actor{Application: "ks1", AuthTime: time.Now(), Proved: true}
	if a.Admin() == nil || a.Developer() == nil || a.Changes("u1") || a.Name() != "ks1" {
		t.Errorf("%+v is named %q and may act as a user", a, a.Name())
	}
}

// The trail says who did what to whom from where, in as many events as it takes.
func TestNoteSaysActorSubjectAndRequest(t *testing.T) {
	var got trail
	c := Recorder{Trail: &got}
	by := Actor{User: storage.User{Sub: "u1"}, Request: Request{Event: event.Event{RequestID: "r1", IP: "192.0.2.1"}}}
	long := strings.Repeat("x", 600)
	if err := c.Note(t.Context(), by, Act{What: "user set", On: "u2", User: "u2",
		Changes: []string{long, long}}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Detail != "user set u2 by u1: "+long ||
		got[1].Detail != "user set u2 by u1, continued: "+long {
		t.Fatalf("the trail has %+v", got)
	}
	if e := got[1]; e.Kind != event.Admin || e.User != "u2" || e.RequestID != "r1" || e.IP != "192.0.2.1" {
		t.Errorf("the event is %+v", e)
	}
}

// A notice says by whose request, or that it was the operator, and reaches everybody once.
func TestNotifySaysWhereAnActCameFrom(t *testing.T) {
	var got mailbox
	c := Recorder{Notifier: &got}
	from := netip.MustParseAddr("192.0.2.1")
	c.Notify(t.Context(), Actor{Request: Request{IP: from, Agent: "curl"}}, event.Notice{Detail: "secret rotated"}, "u1",
		"", "u1", "u2")
	c.Notify(t.Context(), CommandLine(), event.Notice{Detail: "secret rotated"}, "u1")
	Recorder{}.Notify(t.Context(), CommandLine(), event.Notice{}, "u1")
	if len(got) != 3 || got[0].Detail != "secret rotated" || got[0].IP != from || got[0].Agent != "curl" ||
		got[2].Detail != "by the operator: secret rotated" {
		t.Errorf("the notices are %+v", got)
	}
}

// counted has one group, and counts how often it is read.
type counted struct{ reads int }

func (c *counted) Group(_ context.Context, name string) (groups.Group, error) {
	c.reads++
	if name != "ops" {
		return groups.Group{}, storage.ErrUnavailable
	}
	return groups.Group{Name: "ops", Managers: []string{"u1"}}, nil
}

// A page asks in each row who owns what it shows.
func TestGroupIsReadOnceForARequest(t *testing.T) {
	in := &counted{}
	manages := Managing(t.Context(), in, "u1")
	for range 100 {
		if !manages("ops") || manages("dev") {
			t.Fatal("a manager of ops manages another group, or none")
		}
	}
	if in.reads != 2 {
		t.Errorf("two groups are read %d times", in.reads)
	}
	if Managing(t.Context(), in, "u2")("ops") || Managing(t.Context(), in, "")("ops") {
		t.Error("somebody else manages it")
	}
}

// The things of a group are its managers' own, as far as their role goes, and nobody else's: neither a member's, nor
// that of a user whose sub looks like a group.
func TestManagersOwnWhatBelongsToTheirGroup(t *testing.T) {
	manages := func(group string) bool { return group == "ops" }
	for _, c := range []struct {
		name          string
		who           Actor
		sees, changes bool
	}{
		{"a manager", Actor{User: storage.User{Sub: "u1"}, Manages: manages}, true, true},
		{"an auditor who manages it", Actor{User: storage.User{Sub: "u1", Role: storage.RoleAuditor}, Manages: manages}, true,
			false},
		{"a user", Actor{User: storage.User{Sub: "u1"}}, false, false},
		{"a user of that sub", Actor{User: storage.User{Sub: "group:ops"}}, false, false},
		{"an application", Actor{Application: "ks1", Manages: manages}, false, false},
	} {
		if c.who.Sees("group:ops") != c.sees || c.who.Changes("group:ops") != c.changes {
			t.Errorf("%s sees it: %t, changes it: %t", c.name, c.who.Sees("group:ops"), c.who.Changes("group:ops"))
		}
		if c.name == "a manager" && (c.who.Sees("group:dev") || c.who.Sees("")) {
			t.Error("a manager sees what belongs to another group, or to nobody")
		}
	}
}
