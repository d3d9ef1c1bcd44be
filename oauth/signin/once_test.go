package signin

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/storage"
)

func (rm *fixture) allowedOnce(scope string) bool {
	_, ok, err := rm.AllowedOnce(context.Background(), storage.App{ID: "ksacme"}, rm.mina.Sub, scope)
	must(rm.t, err)
	return ok
}

// allow answers the consent page for a scope with yes.
func (rm *fixture) allow(cookie, scope string) answer {
	return rm.do(sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", scope,
		"allow", "1"))
}

// Decision 52: a yes to the management of applications is one grant's, and soon nobody's.
func TestConsentToManagementIsGoodOnceAndForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		cookie := rm.enterMina()
		if rm.allowedOnce("apps") {
			t.Fatal("allowed before anybody was asked")
		}
		yes := func() { rm.allow(cookie, "openid apps") }
		yes()
		if rm.allowed("openid apps") || !rm.allowed("openid") {
			t.Error("what is asked each time is remembered, or the rest is not")
		}
		if rm.allowedOnce("openid email apps") {
			t.Error("a yes covers more than was asked")
		}
		if !rm.allowedOnce("openid apps") || rm.allowedOnce("openid apps") {
			t.Error("a yes is not good once")
		}
		yes()
		time.Sleep(10*time.Minute + time.Second)
		if rm.allowedOnce("openid apps") {
			t.Error("a yes is good after ten minutes")
		}
	})
}

// The finder of a browser that its user has left, or the thief of its cookie, must not say yes in
// advance for when its owner signs in again.
func TestConsentToManagementTakesARecentSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		left := rm.enterMina()
		time.Sleep(10*time.Minute + time.Second)
		a := rm.allow(left, "openid apps")
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Errorf("it is answered with %d to %q, want to be asked again", a.Code, a.Header().Get("Location"))
		}
		if rm.allowedOnce("apps") || rm.allowed("openid") {
			t.Error("the yes counts")
		}
		cookie := rm.enterMina()
		if rm.allowedOnce("apps") {
			t.Error("the yes counts after a sign-in")
		}
		if rm.allow(left, "openid"); !rm.allowed("openid") {
			t.Error("a yes to anything else takes a recent sign-in")
		}
		if rm.allow(cookie, "openid apps"); !rm.allowedOnce("openid apps") {
			t.Error("a yes after a sign-in does not count")
		}
	})
}

func TestDeviceApprovalIsTakenByOneOfManyRequests(t *testing.T) {
	rm := newFixture(t, nil)
	rm.allow(rm.enterMina(), "apps")
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if rm.allowedOnce("apps") {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d requests took one yes", taken.Load())
	}
}

func TestConsentPageSaysWhatAnApplicationMayDo(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.askConsent(authorizeQuery, "apps openid tools:shop tools:b:support")
	for _, want := range []string{
		"<li><b>Manage your applications for one hour", "Use the tools of shop on your behalf",
		"Use the tools of the bundle support on your behalf",
		`name="scope" value="apps openid tools:shop tools:b:support"`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %q: %s", want, a.body)
		}
	}
	if zh := rm.askConsent(authorizeQuery+"&ui_locales=zh-CN", "tools:shop"); !strings.Contains(zh.body,
		"代表您使用 shop 的工具") {
		t.Error("in Chinese it speaks English")
	}
}
