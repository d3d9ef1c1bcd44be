package legacy_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestCodeRedeemedByManyIsWonByOne(t *testing.T) {
	h := newFixture(t)
	for range 10 {
		code := h.code()
		answers := make([]answer, 20)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = h.callback(code) })
		}
		all.Wait()
		won, used := 0, 0
		for _, a := range answers {
			switch {
			case a.number("code") == 1:
				won++
			case a.number("errcode") == 40163:
				used++
			default:
				t.Errorf("callback = %d %s, want a profile or 40163", a.status, a.raw)
			}
		}
		if won != 1 || used != len(answers)-1 {
			t.Fatalf("%d won and %d were told 40163, want 1 and %d", won, used, len(answers)-1)
		}
	}
}

func TestCodeIsNotSpentByAWrongAttempt(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	for what, a := range map[string]answer{
		"a wrong appkey":       h.callback(code, "appkey", "wrong"),
		"no appkey":            h.callback(code, "appkey", "-"),
		"another application":  h.callback(code, "appid", h.other.ID, "appkey", h.other.AppKey().Reveal()),
		"another type":         h.callback(code, "type", "qq"),
		"a wrong sign":         h.callback(code, "timestamp", unix(time.Now()), "sign", strings.Repeat("0", 32)),
		"lower case":           h.callback(strings.ToLower(code)),
		"as a refresh token":   h.callback("rt_" + code),
		"with something added": h.callback(code + "0"),
	} {
		if a.number("code") != -1 || a.text("access_token") != "" {
			t.Errorf("%s: callback = %s, want a refusal", what, a.raw)
		}
	}
	h.callback(code).wants(t, "callback after them", 1)
	h.callback(code, "type", "qq").refuses(t, "a spent code with another type", 40163)
}

func TestCodeOfAnotherApplicationDoesNotExist(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	theirs := func() string {
		return h.callback(code, "appid", h.other.ID, "appkey", h.other.AppKey().Reveal()).refuses(t, "callback", 107).raw
	}
	before := theirs()
	h.callback(code).wants(t, "callback", 1)
	if after := theirs(); after != before {
		t.Errorf("callback by another application = %s, before it was spent %s", after, before)
	}
}

func TestCodeMayBeRedeemedBySignature(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	a := h.call(request("POST", "/connect.php", h.signed(form("act", "callback", "appid", "1000", "code", code))))
	a.wants(t, "callback", 1)
	if got := h.trail.last(); got.Detail != "callback signed" || got.User != h.ada.Sub || got.App != "1000" {
		t.Errorf("event = %+v, want a signed callback for Ada", got)
	}
}

func TestTokenOfACallbackEndsWithItsGrant(t *testing.T) {
	h := newFixture(t)
	first, second := h.code(), h.code()
	a := h.callback(first).wants(t, "callback", 1)
	check := func() bool {
		valid, _ := h.call(request("GET", "/check_token.php", form("token", a.text("access_token")))).body["valid"].(bool)
		return valid
	}
	if !check() {
		t.Error("check_token of a fresh token: not valid")
	}
	stop := driver.Revocation{Kind: driver.RevokeUser, ID: h.ada.Sub, Before: time.Now().Add(time.Second)}
	if err := h.tokens.Revoke(t.Context(), stop); err != nil {
		t.Fatal(err)
	}
	if check() {
		t.Error("check_token after the user has signed out everywhere: valid")
	}
	h.callback(second).refuses(t, "callback of a code from before", 107)
}

func TestDisabledUserIsRefused(t *testing.T) {
	h := newFixture(t)
	code, second := h.code(), h.code()
	a := h.callback(second).wants(t, "callback", 1)
	h.ada.Version = must(h.store.User(t.Context(), h.ada.Sub))(t).Version
	h.ada.Disabled = true
	must(h.store.SaveUser(t.Context(), h.ada))(t)
	h.callback(code).refuses(t, "callback", 107)
	h.connect("query", "social_uid", a.text("social_uid")).refuses(t, "query", 106)
	h.call(request("GET", "/check_token.php", form("token", a.text("access_token")))).refuses(t, "check_token", 401)
	if got := h.connect("check_sso").wants(t, "check_sso", 1); got.body["logged_in"] != false {
		t.Errorf("check_sso = %s, want nobody", got.raw)
	}
}

// Nobody finds out whom other applications know.
func TestUserOfAnotherApplicationIsAsUnknownAsNobody(t *testing.T) {
	h := newFixture(t)
	theirs := must(h.store.EnsureOpenID(t.Context(), h.other.ID, h.ada.Sub))(t).OpenID
	own := h.callback(h.code()).wants(t, "callback", 1).text("social_uid")
	if own == theirs {
		t.Fatal("two applications know a user by one social_uid")
	}
	nobody := h.connect("query", "social_uid", strings.Repeat("0", 32)).refuses(t, "query", 106).raw
	for what, uid := range map[string]string{
		"another application's": theirs, "lower case": strings.ToLower(own), "cut": own[:31], "the sub": h.ada.Sub,
		"the number": "1",
		"of two":     own + "=" + theirs, "with a separator": own + "\x1f", "long": strings.Repeat(own, 1000),
		"a newline": own + "\n",
	} {
		if got := h.connect("query", "social_uid", uid).raw; got != nobody {
			t.Errorf("query of %s social_uid = %s, want %s", what, got, nobody)
		}
	}
	h.connect("query", "social_uid", own).wants(t, "query", 1)
}

func TestDisabledApplicationHasNoValidTokens(t *testing.T) {
	h := newFixture(t)
	token := h.callback(h.code()).wants(t, "callback", 1).text("access_token")
	alone := func() answer { return h.call(request("GET", "/check_token.php", form("token", token))) }
	alone().wants(t, "check_token", 1)
	h.change(func(a *storage.App) { a.Disabled = true })
	alone().refuses(t, "check_token", 401)
}

func TestCallbackFieldsAreStringsExceptCode(t *testing.T) {
	h := newFixture(t)
	for gender, want := range map[string]string{"male": "男", "female": "女", "": ""} {
		u := must(h.store.User(t.Context(), h.ada.Sub))(t)
		u.Gender, u.Nickname, u.Picture, u.Location = gender, "", "", ""
		must(h.store.SaveUser(t.Context(), u))(t)
		a := h.callback(h.code()).wants(t, "callback", 1)
		if a.text("gender") != want || a.text("nickname") != "ada" || len(a.body) != 10 {
			t.Errorf("callback = %s, want gender %q and nickname ada among ten fields", a.raw, want)
		}
		for name, v := range a.body {
			if _, text := v.(string); !text && name != "code" {
				t.Errorf("%s is %T, want a text", name, v)
			}
		}
	}
}

func TestCodeWaitsNoLongerThanFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		code, second := h.code(), h.code()
		time.Sleep(5*time.Minute - 1)
		h.callback(code).wants(t, "callback in the last moment", 1)
		time.Sleep(time.Nanosecond)
		h.callback(second).refuses(t, "callback after five minutes", 107)
	})
}

// A store that fails neither refuses nor spends the code.
func TestFaultIsNoVerdict(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	h.backend.fail = context.DeadlineExceeded
	for _, a := range []answer{
		h.callback(code), h.connect("login", "redirect_uri", redirect),
		h.connect("query", "social_uid", strings.Repeat("0", 32)), h.connect("check_sso"),
	} {
		if a.status != 503 || a.number("code") != -1 || a.number("errcode") != 201 || a.header.Get("Retry-After") == "" {
			t.Errorf("answer = %d %s, want 503 with errcode 201 and Retry-After", a.status, a.raw)
		}
	}
	h.backend.fail = nil
	h.callback(code).wants(t, "callback afterwards", 1)
}

// An API key is of no application, so it has no openid that the old endpoints could tell.
func TestOldEndpointsTakeNoAPIKey(t *testing.T) {
	h := newFixture(t)
	a := h.call(request("GET", "/check_token.php", form("token", handle.NewAPIKey())))
	a.refuses(t, "check_token", 401)
	if !strings.Contains(a.text("msg"), "API key") {
		t.Errorf("it does not say why: %v", a.body)
	}
}
