package connector

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage"
)

// WX is the Config of WeChat's website login.
type WX struct {
	ID     string         // required: AppID, of a website application of the open platform
	Secret storage.Secret // required: AppSecret
	Client *http.Client   // nil: our own

	AuthorizeURL string // "": https://open.weixin.qq.com/connect/qrconnect
	TokenURL     string // "": https://api.weixin.qq.com/sns/oauth2/access_token
	UserURL      string // "": https://api.weixin.qq.com/sns/userinfo
}

// wx answers as text/plain with status 200, also when it refuses.
type wx struct {
	*base
	authorize, tokens, users string
}

// NewWX makes the connector wx, or reports all errors of the Config.
func NewWX(c WX) (Connector, error) {
	k := check{name: storage.LoginWX}
	w := &wx{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, wxMeanings, wxFault),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://open.weixin.qq.com/connect/qrconnect"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://api.weixin.qq.com/sns/oauth2/access_token"),
		users:     k.endpoint("UserURL", c.UserURL, "https://api.weixin.qq.com/sns/userinfo"),
	}
	return k.made(w)
}

var wxMeanings = map[string]meaning{
	"-1":    {hint: "busy; it passes"},
	"40001": {hint: "the access token is not accepted, or the Secret is wrong"},
	"40013": {hint: "the ID is wrong"},
	"40014": {hint: "the access token is not accepted"},
	"40029": {err: ErrCode}, // no such code
	"40125": {hint: "the Secret is wrong"},
	"40163": {err: ErrCode}, // used
	"41008": {err: ErrCode}, // missing
	"42001": {hint: "the access token has expired"},
	"42003": {err: ErrCode}, // expired
	"45011": {hint: "too many requests; it passes"},
	"48001": {hint: "the application has no right to website login"},
}

func wxFault(o object) (code, text string) { return o.fault("errcode"), o.text("errmsg") }

// Begin has one page for desktops and phones: it shows a code to scan, and opens the app where there is one. The page
// is in Chinese or in English.
func (w *wx) Begin(_ context.Context, v Visit) (string, error) {
	params := url.Values{
		"appid": {w.id}, "redirect_uri": {v.Back}, "response_type": {"code"}, "scope": {"snsapi_login"}, "state": {v.State},
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(v.UILocales), " "); first == "en" || strings.HasPrefix(first, "en-") {
		params.Set("lang", "en")
	}
	return addParams(w.authorize, params) + "#wechat_redirect", nil
}

func (w *wx) Finish(ctx context.Context, _ string, query url.Values) (Profile, error) {
	if query.Get("code") == "authdeny" { // a denial inside the app
		query = nil
	}
	ctx, t, done, err := w.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	tokens, err := t.object(t.get(ctx, w.tokens, url.Values{
		"appid": {w.id}, "secret": {w.secret.Reveal()}, "code": {t.code}, "grant_type": {"authorization_code"},
	}, nil))
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens, "openid")
	if err != nil {
		return Profile{}, err
	}
	user, err := t.object(t.get(ctx, w.users, url.Values{
		"access_token": {token}, "openid": {tokens.text("openid")}, "lang": {"zh_CN"},
	}, nil))
	if err := t.show(err); err != nil {
		return Profile{}, err
	}
	return t.profile(wxIdentity(tokens), wxIdentity(user), Profile{
		Nickname: user.text("nickname"),
		Avatar:   overTLS(pictureURL(user.text("headimgurl"))),
		Gender:   gender(user.text("sex"), "1", "2"),
		Location: location(user.text("country"), user.text("province"), user.text("city")),
	})
}

func wxIdentity(o object) identity { return identity{o.text("unionid"), o.text("openid")} }

// overTLS makes the address of a picture https where that is known to work: at wx's own hosts,
// which old accounts still have by http, so browsers would warn about our pages.
func overTLS(address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "http" && strings.HasSuffix(u.Host, ".qlogo.cn") {
		return "https" + address[len("http"):]
	}
	return address
}
