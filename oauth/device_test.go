package oauth_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
)

// The rules of RFC 8628, and the tests that hold them:
//
//	3.1   client_id or the client's authentication, a form by POST      TestWhoMayAskOnADevice
//	3.1   scope, and resource of RFC 8707                               TestADeviceMayAskForWhatAuthorizeGrants
//	3.2   device_code, user_code, both links, expires_in, interval      TestADeviceIsToldBothCodesAndHowLong
//	3.2   not cached                                                    TestADeviceIsToldBothCodesAndHowLong
//	3.3   the user signs in and types the code                          TestATerminalSignsInByABrowser
//	3.3   of the flow nothing is said but to whoever knows the code     TestAWrongCodeSaysNothing
//	3.3.1 a link with the code still asks whether it is the right one   TestALinkWithTheCodeIsConfirmedByThePerson
//	3.4   of the client that the code was issued to                     TestADeviceCodeIsOfItsClientAlone
//	3.5   authorization_pending                                         TestATerminalSignsInByABrowser
//	3.5   slow_down adds 5 seconds, to this and all later polls         TestPollingTooFastIsSlowed
//	3.5   access_denied                                                 TestANoIsTold
//	3.5   expired_token                                                 TestADeviceCodeEndsAfterTenMinutes
//	5.1   user codes cannot be guessed within their life                TestUserCodesAreNotGuessed, and package device
//	5.2   nor device codes                                              TestADeviceIsToldBothCodesAndHowLong
//	5.3   one redemption                                                TestADeviceCodeIsRedeemedOnce, TestTwoPollsAtOnceGetOneAnswer
//	5.4   remote phishing: who asks, from where, since when             TestThePageSaysWhoAsksFromWhereAndSinceWhen
//	5.4   always asked, also where all was allowed before               TestThePersonIsAlwaysAsked
//	5.5   the code is short-lived                                       TestADeviceCodeEndsAfterTenMinutes
//	5.6   public clients get no more for it                             TestWhoMayAskOnADevice
//	5.7   the code is not kept in the browser                           TestThePageIsFramedAndCachedByNobody
var _ = oauth.Config{Devices: new(signin.SignIn)}

func TestATerminalSignsInByABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDevices(t, 1)
		var done page
		a := terminal{d, func(userCode, link string) {
			go func() {
				time.Sleep(42 * time.Second)
				p := d.person()
				asked := p.signIn(p.open(link).has(t, "the link", "Sign in first"))
				asked.has(t, "after the sign-in", "Connect a device", "exactly this code", userCode)
				asked = p.typeCode(userCode).has(t, "the question", "Terminal", "It is registered here", "192.0.2.1", userCode, "Use tools on your behalf")
				done = p.answer(asked, "allow")
			}()
		}}.signIn("openid tools").tokens(t)
		if done.status != 200 {
			t.Errorf("the person is answered with %d: %s", done.status, done.text)
		}
		if a.text("scope") != "openid tools" || a.text("refresh_token") == "" || a.text("id_token") == "" || a.text("token_type") != "Bearer" {
			t.Errorf("the tokens are %v", a.body)
		}
		if user, _ := a.body["user"].(map[string]any); user["nickname"] != "Ada" || user["openid"] == "" {
			t.Errorf("the user is %v, want the one of protocol 2.2", a.body["user"])
		}
		caller, err := d.nodes[0].tokens.Verify(t.Context(), a.text("access_token"))
		if err != nil || caller.UserID != d.ada.Sub || caller.AppID != d.app.ID {
			t.Errorf("the token is that of %+v, %v", caller, err)
		}
		d.post(d.nodes[0], "/oauth/token", form("grant_type", "refresh_token", "client_id", d.app.ID, "refresh_token", a.text("refresh_token"))).tokens(t)
	})
}
