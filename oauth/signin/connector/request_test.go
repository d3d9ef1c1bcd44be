package connector

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
)

func TestBeginLeadsToTheProvider(t *testing.T) {
	challenge := challengeOf(pkceVerifier)
	const at = "redirect_uri=https%3A%2F%2Fid.example.com%2Foauth%2Fsignin%2Freturn%3Fa%3Db+c&"
	for _, c := range []struct {
		name   string
		mobile bool
		want   string
	}{
		{"wx", false, "https://open.weixin.qq.com/connect/qrconnect?appid=wx0123456789abcdef&" + at +
			"response_type=code&scope=snsapi_login&state=" + state + "#wechat_redirect"},
		{"wx", true, "https://open.weixin.qq.com/connect/qrconnect?appid=wx0123456789abcdef&" + at +
			"response_type=code&scope=snsapi_login&state=" + state + "#wechat_redirect"},
		{"qq", false, "https://graph.qq.com/oauth2.0/authorize?client_id=101896710&" + at +
			"response_type=code&scope=get_user_info&state=" + state},
		{"qq", true, "https://graph.qq.com/oauth2.0/authorize?client_id=101896710&display=mobile&" + at +
			"response_type=code&scope=get_user_info&state=" + state},
		{"alipay", false, "https://openauth.alipay.com/oauth2/publicAppAuthorize.htm?app_id=2021000000000001&" + at +
			"scope=auth_user&state=" + state},
		{"feishu", false, "https://accounts.feishu.cn/open-apis/authen/v1/authorize?client_id=cli_a1b2c3d4e5f6&code_challenge=" + challenge + "&code_challenge_method=S256&" + at + "response_type=code&state=" + state},
		{"wecom", true, "https://login.work.weixin.qq.com/wwlogin/sso/login?agentid=1000002&appid=ww0123456789abcdef&login_type=CorpApp&" + at + "state=" + state},
		{"dingtalk", false, "https://login.dingtalk.com/oauth2/auth?client_id=dingabcdefghijklmnop&prompt=consent&" + at +
			"response_type=code&scope=openid&state=" + state},
		{"douyin", true, "https://open.douyin.com/platform/oauth/connect/?client_key=awtest0123456789&" + at +
			"response_type=code&scope=user_info&state=" + state},
	} {
		connector := connect(t, c.name, nil)
		if got := begun(connector, Visit{State: state, Back: back, Mobile: c.mobile}); got != c.want {
			t.Errorf("%s: Begin(mobile %t) = %s\nwant %s", c.name, c.mobile, got, c.want)
		}
		if connector.Name() != c.name {
			t.Errorf("Name() = %s, want %s", connector.Name(), c.name)
		}
	}
	if got := addParams("https://sandbox.example/authorize?env=test",
		url.Values{"a": {"b"}}); got != "https://sandbox.example/authorize?env=test&a=b" {
		t.Errorf("an endpoint with a query of its own became %s", got)
	}
}

// asked is a request in one line: method, address, form.
func requestLine(r *http.Request) string {
	form := r.Form.Encode()
	return r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.Path + " " + form
}

func TestRequestsFollowEachProvidersDocuments(t *testing.T) {
	all := vectors(t)
	for name, c := range map[string]struct {
		answers map[string][]cannedResponse
		want    []string
	}{
		"wx": {map[string][]cannedResponse{wxTokenPath: {all["wx_token_ok"]}, wxUserPath: {all["wx_userinfo_ok"]}}, []string{
			"GET https://api.weixin.qq.com/sns/oauth2/access_token appid=wx0123456789abcdef&code=" + code +
				"&grant_type=authorization_code&secret=" + secret,
			"GET https://api.weixin.qq.com/sns/userinfo access_token=AT_wx&lang=zh_CN&openid=of_Hl5zVpyj0vwzIlAyIlnXe1234",
		}},
		"qq": {map[string][]cannedResponse{qqTokenPath: {all["qq_token_ok_form"]},
			qqMePath: {all["qq_me_unionid_denied"], all["qq_me_ok_jsonp"]}, qqUserPath: {all["qq_userinfo_ok"]}}, []string{
			"GET https://graph.qq.com/oauth2.0/token client_id=101896710&client_secret=" + secret + "&code=" + code +
				"&fmt=json&grant_type=authorization_code&need_openid=1&redirect_uri=" + url.QueryEscape(back),
			"GET https://graph.qq.com/oauth2.0/me access_token=AT_qq&fmt=json&unionid=1",
			"GET https://graph.qq.com/oauth2.0/me access_token=AT_qq&fmt=json",
			"GET https://graph.qq.com/user/get_user_info " +
				"access_token=AT_qq&oauth_consumer_key=101896710&openid=C0D022F92B604AA4B1CDF92CC79463A4",
		}},
		"douyin": {map[string][]cannedResponse{douyinTokenPath: {all["douyin_token_ok_strings"]}, douyinUserPath: {ok(`{"data":{"open_id":"aaa-bbb-ccc"}}`)}}, []string{
			"POST https://open.douyin.com/oauth/access_token/ client_key=awtest0123456789&client_secret=" + secret + "&code=" +
				code + "&grant_type=authorization_code",
			"POST https://open.douyin.com/oauth/userinfo/ access_token=act&open_id=aaa-bbb-ccc",
		}},
		"feishu": {good("feishu"), []string{
			"POST https://open.feishu.cn/open-apis/authen/v2/oauth/token client_id=cli_a1b2c3d4e5f6&client_secret=" + secret +
				"&code=" + code + "&code_verifier=" + pkceVerifier + "&grant_type=authorization_code&redirect_uri=" +
				url.QueryEscape(back),
			"GET https://open.feishu.cn/open-apis/authen/v1/user_info ",
		}},
		"wecom": {good("wecom"), []string{
			"GET https://qyapi.weixin.qq.com/cgi-bin/gettoken corpid=ww0123456789abcdef&corpsecret=" + secret,
			"GET https://qyapi.weixin.qq.com/cgi-bin/auth/getuserinfo access_token=the-access-token&code=" + code,
			"GET https://qyapi.weixin.qq.com/cgi-bin/user/get access_token=the-access-token&userid=O1",
		}},
		"dingtalk": {good("dingtalk"), []string{
			"POST https://api.dingtalk.com/v1.0/oauth2/userAccessToken clientId=dingabcdefghijklmnop&clientSecret=" + secret +
				"&code=" + code + "&grantType=authorization_code",
			"GET https://api.dingtalk.com/v1.0/contact/users/me ",
		}},
	} {
		connector, s := scripted(t, name, c.answers)
		if _, err := connector.Finish(t.Context(), back, returned(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, r := range s.requests {
			got = append(got, requestLine(r))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s was asked\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		last := s.requests[len(s.requests)-1].Header
		for _, h := range [][3]string{
			{"douyin", "access-token", "act"}, {"feishu", "Authorization", "Bearer the-access-token"},
			{"dingtalk", "x-acs-dingtalk-access-token", "the-access-token"},
		} {
			if name == h[0] && last.Get(h[1]) != h[2] {
				t.Errorf("%s: header %s = %q, want %q", name, h[1], last.Get(h[1]), h[2])
			}
		}
	}
}

// The gateway reads the timestamp in Beijing, wherever we are, and holds the signature
// against all parameters.
func TestRequestsToAlipayAreSignedAndInBeijingTime(t *testing.T) {
	all := vectors(t)
	synctest.Test(t, func(t *testing.T) { // it is midnight UTC, 2000-01-01
		c, s := scripted(t, "alipay",
			map[string][]cannedResponse{alipayPath: {all["alipay_token_ok"], all["alipay_user_ok"]}})
		if _, err := c.Finish(t.Context(), back, returned("alipay")); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{
			"app_id=2021000000000001&charset=utf-8&code=" + code +
				"&format=JSON&grant_type=authorization_code&method=alipay.system.oauth.token&sign_type=RSA2&timestamp=2000-01-01 " +
				"08:00:00&version=1.0",
			"app_id=2021000000000001&auth_token=authusrBxxx&charset=utf-8&format=JSON&method=alipay.user.info.share&sign_type=RSA2&timestamp=2000-01-01 08:00:00&version=1.0",
		} {
			r := s.requests[i]
			if r.Method != "POST" || r.URL.String() != "https://openapi.alipay.com/gateway.do" ||
				r.Header.Get("Content-Type") != "application/x-www-form-urlencoded;charset=utf-8" {
				t.Errorf("request %d: %s %s %s", i, r.Method, r.URL, r.Header)
			}
			if !verified(&keys()[0].PublicKey, []byte(want), r.Form.Get("sign")) {
				t.Errorf("request %d is not signed as %s", i, want)
			}
			r.Form.Del("sign")
			if got, _ := url.QueryUnescape(r.Form.Encode()); got != want {
				t.Errorf("request %d = %s\nwant %s", i, got, want)
			}
		}
	})
}

func TestSignatureLeavesOutWhatIsEmpty(t *testing.T) {
	params := url.Values{"b": {"x=&y"}, "a": {"中 文"}, "sign": {"old"}, "empty": {""}, "sign_type": {"RSA2"}}
	if got := string(signed(params)); got != "a=中 文&b=x=&y&sign_type=RSA2" {
		t.Errorf("signed = %s", got)
	}
}

// begun returns where a connector sends a browser, or why not.
func begun(c Connector, v Visit) string {
	to, err := c.Begin(context.Background(), v)
	if err != nil {
		return err.Error()
	}
	return to
}
