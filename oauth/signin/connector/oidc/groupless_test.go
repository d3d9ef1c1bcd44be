package oidc_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestGroupsAreReadFromUserinfoIfTheIDTokenHasNone(t *testing.T) {
	p := newProvider(t)
	p.c.GroupsClaim, p.c.GroupsMap = "groups", map[string]string{"/ops": "ops"}
	c := p.connect()
	profile, err := p.signIn(c, "lin", "")
	if err != nil || profile.Groups == nil || len(profile.Groups) != 0 {
		t.Errorf("a user without groups: %#v, %v", profile.Groups, err)
	}
	_, sub, _ := strings.Cut(profile.Subjects[0], "#")
	p.instead("userinfo", text(http.StatusOK, `{"sub":"`+sub+`","groups":["/ops","/other"]}`))
	profile, err = p.signIn(c, "lin", "")
	if err != nil || len(profile.Groups) != 1 || profile.Groups[0] != "ops" {
		t.Errorf("a user whose groups userinfo tells: %#v, %v", profile.Groups, err)
	}
	p.instead("userinfo", text(http.StatusServiceUnavailable, ""))
	profile, err = p.signIn(c, "lin", "")
	if err != nil || profile.Groups != nil {
		t.Errorf("nobody has said which groups: %#v, %v", profile.Groups, err)
	}
}
