package mydata

import (
	"testing"

	"github.com/keystile/keystile/storage/event"
)

func TestAdministratorsActIsGivenWithoutWhoAndWhere(t *testing.T) {
	for detail, want := range map[string]string{
		"user set u1 by uadmin: role: \"\" -> \"admin\"":                           "user set u1: role: \"\" -> \"admin\"",
		"user erase u1 by uadmin":                                                  "user erase u1",
		"user set u1 by uadmin, continued: x by y":                                 "user set u1, continued: x by y",
		"user set u1 by command line, uid 0, host.example: name \"a\" -> \"b: c\"": "user set u1: name \"a\" -> \"b: c\"",
		"nothing": "nothing",
	} {
		got := recordOf(event.Event{Kind: event.Admin, IP: "192.0.2.9", Detail: detail, Path: "/api/console/users/u1"})
		if got.Detail != want || got.IP != "" || got.Path == "" {
			t.Errorf("%q becomes %+v", detail, got)
		}
	}
	acts := []string{"agent"}
	if got := recordOf(event.Event{Kind: event.Admin, Actors: acts}); got.Act != nil {
		t.Errorf("of an administrator's act it is said that %q acted", got.Act)
	}
	if got := recordOf(event.Event{Kind: event.Call, Actors: acts}); len(got.Act) != 1 || got.Act[0] != "agent" {
		t.Errorf("of a call for the user it is said that %q acted", got.Act)
	}
	if own := recordOf(event.Event{Kind: event.SignIn, IP: "192.0.2.9", Detail: "x by y"}); own.IP == "" ||
		own.Detail != "x by y" {
		t.Errorf("an act of the user's own becomes %+v", own)
	}
}
