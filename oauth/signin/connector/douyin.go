package connector

import (
	"context"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// Douyin is the Config of Douyin's website login.
type Douyin struct {
	ID     string         // required: Client Key, of a website application
	Secret storage.Secret // required: Client Secret
	Client *http.Client   // nil: our own

	AuthorizeURL string // "": https://open.douyin.com/platform/oauth/connect/
	TokenURL     string // "": https://open.douyin.com/oauth/access_token/
	UserURL      string // "": https://open.douyin.com/oauth/userinfo/
}

// douyin answers with status 200, and with its codes as numbers or as strings.
type douyin struct {
	*base
	authorize, tokens, users string
}

// NewDouyin makes the connector douyin, or reports all errors of the Config.
func NewDouyin(c Douyin) (Connector, error) {
	k := check{name: storage.LoginDouyin}
	d := &douyin{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, douyinMeanings, douyinFault),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://open.douyin.com/platform/oauth/connect/"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://open.douyin.com/oauth/access_token/"),
		users:     k.endpoint("UserURL", c.UserURL, "https://open.douyin.com/oauth/userinfo/"),
	}
	return k.made(d)
}

var douyinMeanings = map[string]meaning{
	"10002":    {hint: "a parameter is missing or wrong"},
	"10003":    {hint: "the ID is wrong"},
	"10007":    {err: ErrCode}, // expired
	"10008":    {hint: "the access token has expired"},
	"10013":    {hint: "the ID or the Secret is wrong"},
	"2100004":  {hint: "busy; it passes"},
	"2100005":  {hint: "a parameter is missing or wrong"},
	"2190002":  {hint: "the access token is not accepted"},
	"2190008":  {hint: "the access token has expired"},
	"28001003": {hint: "the access token is not accepted"},
	"28001005": {hint: "busy; it passes"},
	"28001006": {hint: "busy; it passes"},
	"28001007": {hint: "a parameter is missing or wrong"},
	"28001008": {hint: "the access token has expired"},
	"28001012": {err: ErrDenied}, // the person took user_info out of what they consented to
	"28001016": {hint: "the application is closed or not published"},
	"28001018": {hint: "the application has no right to user_info"},
	"28003018": {hint: "too many requests; it passes"},
	"29002002": {hint: "the ID is wrong"},
}

// douyinFault returns the error of an answer, as the old and the new endpoints write it.
func douyinFault(o object) (code, text string) {
	for _, part := range []object{o.inner("data"), o.inner("extra")} {
		if code = part.fault("error_code"); code != "" {
			return code, part.text("description")
		}
	}
	return o.fault("err_no"), o.text("err_msg")
}

func (d *douyin) Begin(_ context.Context, v Visit) (string, error) {
	return addParams(d.authorize, url.Values{
		"client_key": {d.id}, "response_type": {"code"}, "scope": {"user_info"}, "redirect_uri": {v.Back}, "state": {v.State},
	}), nil
}

func (d *douyin) Finish(ctx context.Context, _ string, query url.Values) (Profile, error) {
	ctx, t, done, err := d.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	tokens, err := d.call(ctx, t, d.tokens, nil, url.Values{
		"client_key": {d.id}, "client_secret": {d.secret.Reveal()}, "code": {t.code}, "grant_type": {"authorization_code"},
	})
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens, "open_id")
	if err != nil {
		return Profile{}, err
	}
	user, err := d.call(ctx, t, d.users, http.Header{"Access-Token": {token}}, url.Values{
		"access_token": {token}, "open_id": {tokens.text("open_id")},
	})
	if err := t.show(err); err != nil {
		return Profile{}, err
	}
	return t.profile(douyinIdentity(tokens), douyinIdentity(user), Profile{
		Nickname: user.text("nickname"),
		Avatar:   pictureURL(user.text("avatar")),
		Gender:   gender(user.text("gender"), "1", "2"),
		Location: location(user.text("country"), user.text("province"), user.text("city")),
	})
}

// call returns the member data, which holds everything.
func (d *douyin) call(ctx context.Context, t *exchange, endpoint string, header http.Header,
	params url.Values) (object, error) {
	o, err := t.object(t.post(ctx, endpoint, params, header))
	return o.inner("data"), err
}

func douyinIdentity(o object) identity { return identity{o.text("union_id"), o.text("open_id")} }
