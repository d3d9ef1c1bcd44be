package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/groups"
)

// joins makes the fixture's user a member of groups, which are made.
func (h *fixture) joins(names ...string) {
	h.Helper()
	for _, name := range names {
		must(h.store.SaveGroup(context.Background(), groups.Group{Name: name}))(h.TB)
		must(h.store.AddMember(context.Background(), name, h.user.Sub))(h.TB)
	}
}

// leaves ends a membership of the fixture's user.
func (h *fixture) leaves(name string) {
	h.Helper()
	must(h.store.RemoveMember(context.Background(), name, h.user.Sub))(h.TB)
}

// granted signs the user in for a scope.
func (h *fixture) granted(scope string) answer {
	h.Helper()
	return h.exchange(h.code("scope", scope)).tokens(h.TB)
}

// groupsOf are the claim groups of claims, "none" if it is not there.
func groupsOf(claims map[string]any) string {
	if all, there := claims["groups"]; there {
		return fmt.Sprint(all)
	}
	return "none"
}

// told are the claims groups of the id_token of a grant, of its access token, at userinfo and at introspection.
func (h *fixture) told(granted answer) []string {
	h.Helper()
	access := granted.text("access_token")
	return []string{groupsOf(payload(h, granted.text("id_token"))), groupsOf(payload(h, access)),
		groupsOf(h.userInfo(access).body), groupsOf(h.introspect(access).body)}
}

func (h *fixture) tells(what string, granted answer, want ...string) {
	h.Helper()
	if got := h.told(granted); !reflect.DeepEqual(got, want) {
		h.Errorf("%s: id_token, access token, userinfo and introspection say %q, want %q", what, got, want)
	}
}

func TestGroupsAreToldWithTheirScopeAlone(t *testing.T) {
	h := newFixture(t)
	h.joins("ops", "team-b", "team-a", "a.1_x")
	all := "[a.1_x ops team-a team-b]"
	with := h.granted("openid profile groups")
	h.tells("with the scope", with, all, "none", all, all)
	if got := with.text("scope"); got != "openid profile groups" {
		t.Errorf("the grant has the scope %q", got)
	}
	if got := groupsOf(h.introspect(with.text("refresh_token")).body); got != all {
		t.Errorf("introspection of the refresh token says %s", got)
	}
	without := h.granted("openid profile email")
	h.tells("without", without, "none", "none", "none", "none")
	if a, b := h.userInfo(with.text("access_token")), h.userInfo(without.text("access_token")); len(a.body) != 14 ||
		len(b.body) != 13 || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("userinfo has %d members with the scope and %d without, want 14 and 13: %v", len(a.body), len(b.body), a)
	}
	if a := h.granted("groups"); a.text("id_token") != "" || groupsOf(h.userInfo(a.text("access_token")).body) != all {
		t.Errorf("the scope groups alone: %v", a.body)
	}
	own := h.token("grant_type", "client_credentials", "scope", "groups").tokens(t)
	if own.text("scope") != "app" || groupsOf(h.introspect(own.text("access_token")).body) != "none" {
		t.Errorf("an application's own token: %v", own.body)
	}
}

func TestUserInNoGroupHasAnEmptyList(t *testing.T) {
	h := newFixture(t)
	h.tells("nobody has put them into one", h.granted("openid groups"), "[]", "none", "[]", "[]")
	h.joins("ops")
	must(0, h.store.DeleteGroup(t.Context(), must(h.store.Group(t.Context(), "ops"))(t)))(t)
	h.tells("the group was deleted", h.granted("openid groups"), "[]", "none", "[]", "[]")
}

func TestApplicationLearnsOfTheGroupsOfItsFilterAlone(t *testing.T) {
	h := newFixture(t)
	h.joins("ops", "team-a", "team-b", "teamster")
	all := h.granted("openid groups")
	h.app.GroupFilter = []string{"team-*", "dev"}
	h.changed()
	mine := "[team-a team-b]"
	h.tells("with a filter", h.granted("openid groups"), mine, "none", mine, mine)
	h.tells("a token of before it", all, "[ops team-a team-b teamster]", "none", mine, mine)

	// Neither does it learn of others by the token of an application without a filter.
	filtered := h.app
	h.app = h.register(storage.App{Name: "Other", Domains: []string{"app.example.com"}})
	other := h.granted("openid groups")
	h.tells("another application", other, "[ops team-a team-b teamster]", "none", "[ops team-a team-b teamster]",
		"[ops team-a team-b teamster]")
	a := h.introspect(other.text("access_token"), "client_id", filtered.ID, "client_secret", filtered.AppKey().Reveal())
	if groupsOf(a.body) != mine {
		t.Errorf("it asks about a token of the other one and learns of %s", groupsOf(a.body))
	}
	a = h.introspect(h.fixtureOf(filtered).granted("openid groups").text("access_token"))
	if groupsOf(a.body) != mine {
		t.Errorf("the other one asks about its token and learns of %s", groupsOf(a.body))
	}
}

// fixtureOf is the fixture with another application.
func (h *fixture) fixtureOf(app storage.App) *fixture {
	other := *h
	other.app = app
	return &other
}

func TestAccessTokenHasGroupsOnlyIfItsApplicationWantsThem(t *testing.T) {
	h := newFixture(t)
	h.joins("ops", "team-a")
	h.app.GroupsInAccessToken = true
	h.changed()
	all := "[ops team-a]"
	granted := h.granted("openid groups")
	h.tells("it wants them", granted, all, all, all, all)
	h.tells("without the scope", h.granted("openid"), "none", "none", "none", "none")
	h.leaves("ops")
	h.tells("a token is as old as it is", granted, all, all, "[team-a]", "[team-a]")
	must(h.tokens.Verify(t.Context(), granted.text("access_token")))(t)
}

// A token of more than 8 KiB is verified nowhere, and the first few groups could be taken for all.
func TestGroupsThatDoNotFitIntoAnAccessTokenAreLeftOutOfIt(t *testing.T) {
	h := newFixture(t)
	var names []string
	for i := range groups.MaxGroupsOfUser {
		names = append(names, fmt.Sprintf("g%03d%s", i, strings.Repeat("x", 59)))
	}
	h.joins(names...)
	h.app.GroupsInAccessToken = true
	h.changed()
	all := fmt.Sprint(names)
	granted := h.granted("openid groups")
	h.tells("200 groups with long names", granted, all, "none", all, all)
	must(h.tokens.Verify(t.Context(), granted.text("access_token")))(t)
}

// An id_token is as old as it is. Userinfo and introspection say what is so now, and a refresh reads anew.
func TestRemovedMemberStaysInTheIDTokenAndNowhereElse(t *testing.T) {
	h := newFixture(t)
	h.joins("ops", "team-a")
	granted := h.granted("openid groups")
	h.leaves("ops")
	h.tells("after the removal", granted, "[ops team-a]", "none", "[team-a]", "[team-a]")
	next := h.refresh(granted.text("refresh_token")).tokens(t)
	h.tells("refreshed", next, "[team-a]", "none", "[team-a]", "[team-a]")
	h.joins("dev")
	h.tells("after another one", next, "[team-a]", "none", "[dev team-a]", "[dev team-a]")
	less := h.refresh(next.text("refresh_token"), "scope", "openid").tokens(t)
	h.tells("refreshed for less", less, "none", "none", "none", "none")
	more := h.refresh(less.text("refresh_token")).tokens(t)
	h.tells("and for all of it again", more, "[dev team-a]", "none", "[dev team-a]", "[dev team-a]")
}

// Grafana, Argo CD and GitLab look for groups, an array of strings, in the id_token and at userinfo. They find the
// scope in the document of RFC 8414; that of protocol 2.5 has its values exactly.
func TestStockClientsFindTheGroups(t *testing.T) {
	h := newFixture(t)
	h.joins("grafana-admins", "team-a")
	granted := h.granted("openid profile email groups")
	for what, claims := range map[string]map[string]any{
		"the id_token": payload(t, granted.text("id_token")), "userinfo": h.userInfo(granted.text("access_token")).body,
	} {
		for _, name := range []string{"sub", "name", "preferred_username", "email", "email_verified"} {
			if claims[name] == nil {
				t.Errorf("%s has no %s", what, name)
			}
		}
		if got, is := claims["groups"].([]any); !is || len(got) != 2 || got[0] != "grafana-admins" || got[1] != "team-a" {
			t.Errorf("%s has the groups %v", what, claims["groups"])
		}
	}
	for path, want := range map[string]bool{"/.well-known/oauth-authorization-server": true,
		"/.well-known/openid-configuration": false} {
		var document struct {
			Scopes []string `json:"scopes_supported"`
			Claims []string `json:"claims_supported"`
		}
		w := h.serve(httptest.NewRequest("GET", path, nil))
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		scopes, claims := strings.Join(document.Scopes, " "), strings.Join(document.Claims, " ")
		if strings.Contains(scopes, "groups") != want || strings.Contains(claims, "groups") != want {
			t.Errorf("%s has the scopes %s and the claims %s", path, scopes, claims)
		}
	}
}

// Groups that cannot be read are not said to be none: an application would take rights away, or give those of nobody.
func TestGroupsThatCannotBeReadAreNoEmptyList(t *testing.T) {
	h := newFixture(t)
	h.joins("ops")
	granted := h.granted("openid groups")
	h.userInfo(granted.text("access_token"))
	code := h.code("scope", "openid groups")
	h.calls.away = "member"
	for what, a := range map[string]answer{
		"an exchange": h.exchange(code), "a refresh": h.refresh(granted.text("refresh_token")),
		"userinfo": h.userInfo(granted.text("access_token")), "introspection": h.introspect(granted.text("access_token")),
	} {
		if a.status != 503 {
			t.Errorf("%s = %d %v, want 503", what, a.status, a.body)
		}
	}
	h.calls.away = ""
	h.exchange(code).tokens(t) // nothing was spent
	h.refresh(granted.text("refresh_token")).tokens(t)
}

// A token of the old endpoints has the scope openid profile: no group is told by it, and rules are.
func TestTokenOfTheOldEndpointsTellsOfNoGroup(t *testing.T) {
	h := newFixture(t)
	h.joins("ops")
	h.app.GroupsInAccessToken, h.app.Claims = true, []claim.Rule{{Claim: "level", From: "value:2"}}
	h.changed()
	legacy := h.server.Legacy()
	code := must(legacy.Code(t.Context(), h.app, *h.browser.session, redirect, netip.Addr{}))(t)
	access := must(legacy.Access(t.Context(), must(h.store.Token(t.Context(), handle.KeyOf(code)))(t)))(t)
	for what, claims := range map[string]map[string]any{
		"the access token": payload(t, access), "userinfo": h.userInfo(access).body,
		"introspection": h.introspect(access).body,
	} {
		if groupsOf(claims) != "none" {
			t.Errorf("%s says %v", what, claims)
		}
	}
	if a := h.userInfo(access); len(a.body) != 14 || a.number("level") != 2 {
		t.Errorf("userinfo = %v", a.body)
	}
}

func TestDeviceIsGrantedGroupsByAUserWhoSeesWhich(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		store := d.nodes[0].store
		for _, name := range []string{"ops", "team-a"} {
			must(store.SaveGroup(t.Context(), groups.Group{Name: name}))(t)
			must(store.AddMember(t.Context(), name, d.ada.Sub))(t)
		}
		tv := d.register(storage.App{Name: "TV", Public: true, GroupFilter: []string{"team-*"},
			Domains: []string{"tv.example.com"}})
		begun := d.begin("client_id", tv.ID, "scope", "openid groups")
		p := d.person().signedIn()
		asked := p.typeCode(begun.text("user_code")).has(t, "the question",
			"See which groups you are in, at present: team-a<")
		p.answer(asked, "allow")
		time.Sleep(6 * time.Second)
		granted := d.poll(d.nodes[0], begun, "client_id", tv.ID).tokens(t)
		if got := groupsOf(payload(t, granted.text("id_token"))); got != "[team-a]" ||
			granted.text("scope") != "openid groups" {
			t.Errorf("the id_token says %s, of the scope %s", got, granted.text("scope"))
		}
	})
}
