package connector

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// DingTalk is the Config of DingTalk's web login.
type DingTalk struct {
	ID     string         // required: Client ID, once AppKey
	Secret storage.Secret // required: Client Secret, once AppSecret
	Client *http.Client   // nil: our own

	AuthorizeURL string // "": https://login.dingtalk.com/oauth2/auth
	TokenURL     string // "": https://api.dingtalk.com/v1.0/oauth2/userAccessToken
	UserURL      string // "": https://api.dingtalk.com/v1.0/contact/users/me
}

// dingtalk takes JSON, and names its errors in words.
type dingtalk struct {
	*base
	authorize, tokens, users string
}

// NewDingTalk makes the connector dingtalk, or reports all errors of the Config.
func NewDingTalk(c DingTalk) (Connector, error) {
	k := check{name: storage.LoginDingTalk}
	d := &dingtalk{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, dingtalkMeanings, dingtalkFault),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://login.dingtalk.com/oauth2/auth"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://api.dingtalk.com/v1.0/oauth2/userAccessToken"),
		users:     k.endpoint("UserURL", c.UserURL, "https://api.dingtalk.com/v1.0/contact/users/me"),
	}
	return k.made(d)
}

var dingtalkMeanings = map[string]meaning{
	"invalidParameter.authCode.notFound":                 {err: ErrCode}, // unknown, used or expired
	"invalidClientIdOrSecret":                            {hint: "the ID or the Secret is wrong"},
	"invalidParameter.clientId.notFound":                 {hint: "the ID is wrong"},
	"InvalidAuthentication":                              {hint: "the access token is not accepted"},
	"Forbidden.AccessDenied.AccessTokenPermissionDenied": {hint: "the application has no right to Contact.User.Read"},
	"Forbidden.AccessDenied.IpNotInWhiteList":            {hint: "the application does not admit this server's address"},
	"Forbidden.AccessDenied.QpsLimitForApi":              {hint: "too many requests; it passes"},
	"Forbidden.AccessDenied.QpsLimitForAppkeyAndApi":     {hint: "too many requests; it passes"},
	"ServiceUnavailable":                                 {hint: "busy; it passes"},
}

func dingtalkFault(o object) (code, text string) {
	return cmp.Or(o.fault("code"), o.fault("errorCode")), cmp.Or(o.text("message"), o.text("errorMsg"))
}

func (d *dingtalk) Begin(_ context.Context, v Visit) (string, error) {
	return addParams(d.authorize, url.Values{
		"client_id": {d.id}, "response_type": {"code"}, "scope": {"openid"}, "redirect_uri": {v.Back}, "state": {v.State},
		"prompt": {"consent"},
	}), nil
}

// Finish reads the code that its pages have called authCode, and code as well.
func (d *dingtalk) Finish(ctx context.Context, _ string, query url.Values) (Profile, error) {
	param := "authCode"
	if !query.Has(param) {
		param = "code"
	}
	ctx, t, done, err := d.open(ctx, query, param)
	if err != nil {
		return Profile{}, err
	}
	defer done()
	tokens, err := t.object(t.postJSON(ctx, d.tokens, map[string]string{
		"clientId": d.id, "clientSecret": d.secret.Reveal(), "code": t.code, "grantType": "authorization_code",
	}))
	if err != nil {
		return Profile{}, err
	}
	token := tokens.text("accessToken")
	if token == "" {
		return Profile{}, t.trouble("", "answered without accessToken")
	}
	t.hide(token)
	t.hide(tokens.text("refreshToken"))
	user, err := t.object(t.get(ctx, d.users, nil, http.Header{"X-Acs-Dingtalk-Access-Token": {token}}))
	if err != nil {
		return Profile{}, err
	}
	return t.profile(identity{}, identity{user.text("unionId"), user.text("openId")}, Profile{
		Nickname: user.text("nick"), Avatar: pictureURL(user.text("avatarUrl")), Email: user.text("email"),
	})
}
