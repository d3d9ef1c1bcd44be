package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
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

func TestStoredMappingHoldsInPlaceOfTheConfigured(t *testing.T) {
	p := newProvider(t)
	p.c.GroupsClaim, p.c.GroupsMap = "groups", map[string]string{"/ops": "ops"}
	var stored groups.Mapping
	failure := storage.ErrNotFound
	p.c.Mapped = func(_ context.Context, connector string) (groups.Mapping, error) {
		if connector != p.c.Name {
			t.Errorf("the mapping of %s is asked for", connector)
		}
		return stored, failure
	}
	c := p.connect()
	profile, err := p.signIn(c, "lin", "")
	if err != nil {
		t.Fatal(err)
	}
	_, sub, _ := strings.Cut(profile.Subjects[0], "#")
	p.instead("userinfo", text(http.StatusOK, `{"sub":"`+sub+`","groups":["/ops"],"teams":["core"]}`))
	for _, step := range []struct {
		what    string
		mapping groups.Mapping
		err     error
		want    []string
	}{
		{"none is stored", groups.Mapping{}, storage.ErrNotFound, []string{"ops"}},
		{"another claim", groups.Mapping{Claim: "teams", Groups: map[string]string{"core": "dev"}}, nil, []string{"dev"}},
		{"another map", groups.Mapping{Claim: "groups", Groups: map[string]string{"/dev": "dev"}}, nil, []string{}},
		{"it was removed", groups.Mapping{}, storage.ErrNotFound, []string{"ops"}},
	} {
		stored, failure = step.mapping, step.err
		profile, err := p.signIn(c, "lin", "")
		if err != nil || profile.Groups == nil || !slices.Equal(profile.Groups, step.want) {
			t.Errorf("%s: %#v, %v, want %q", step.what, profile.Groups, err, step.want)
		}
	}
	// A user who has left a group must not come in as if they had not.
	failure = storage.ErrUnavailable
	if profile, err := p.signIn(c, "lin", ""); !errors.Is(err, storage.ErrUnavailable) || len(profile.Subjects) > 0 {
		t.Errorf("a store that fails: %+v, %v", profile, err)
	}
}
