package connector

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// QQ is the Config of QQ Connect.
type QQ struct {
	ID     string         // required: APP ID, of a website application
	Secret storage.Secret // required: APP Key
	Client *http.Client   // nil: our own

	AuthorizeURL string // "": https://graph.qq.com/oauth2.0/authorize
	TokenURL     string // "": https://graph.qq.com/oauth2.0/token
	OpenIDURL    string // "": https://graph.qq.com/oauth2.0/me
	UserURL      string // "": https://graph.qq.com/user/get_user_info
}

// qq answers as a form, as JSON or as JSONP, whatever was requested.
type qq struct {
	*base
	authorize, tokens, openIDs, users string
}

// NewQQ makes the connector qq, or reports all errors of the Config.
func NewQQ(c QQ) (Connector, error) {
	k := check{name: storage.LoginQQ}
	q := &qq{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, qqMeanings, qqFault),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://graph.qq.com/oauth2.0/authorize"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://graph.qq.com/oauth2.0/token"),
		openIDs:   k.endpoint("OpenIDURL", c.OpenIDURL, "https://graph.qq.com/oauth2.0/me"),
		users:     k.endpoint("UserURL", c.UserURL, "https://graph.qq.com/user/get_user_info"),
	}
	return k.made(q)
}

// noUnionRight is the code with which qq refuses a unionid to an application without the right.
const noUnionRight = "100048"

var qqMeanings = map[string]meaning{
	"-22":        {hint: "the openid is not of this application"},
	"-23":        {hint: "the access token is not accepted"},
	"100005":     {err: ErrCode}, // missing
	"100008":     {hint: "the ID is wrong"},
	"100009":     {hint: "the Secret is wrong"},
	"100010":     {hint: "the return address is not the one entered in the console"},
	"100011":     {hint: "the application is not published"},
	"100013":     {hint: "the access token is not accepted"},
	"100014":     {hint: "the access token has expired"},
	"100015":     {hint: "the access token was withdrawn"},
	"100016":     {hint: "the access token is not accepted"},
	"100018":     {err: ErrCode},   // no such code
	"100019":     {err: ErrCode},   // not exchanged
	"100020":     {err: ErrCode},   // used
	"100030":     {err: ErrDenied}, // the person took get_user_info out of what they consented to
	"100031":     {hint: "the application has no right to get_user_info"},
	noUnionRight: {hint: "the application has no right to unionids"},
}

func qqFault(o object) (code, text string) {
	if code = o.fault("error"); code != "" {
		return code, o.text("error_description")
	}
	return o.fault("ret"), o.text("msg")
}

func (q *qq) Begin(_ context.Context, v Visit) (string, error) {
	params := url.Values{
		"response_type": {"code"}, "client_id": {q.id}, "redirect_uri": {v.Back}, "state": {v.State},
		"scope": {"get_user_info"},
	}
	if v.Mobile {
		params.Set("display", "mobile")
	}
	return addParams(q.authorize, params), nil
}

func (q *qq) Finish(ctx context.Context, back string, query url.Values) (Profile, error) {
	ctx, t, done, err := q.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	tokens, err := q.call(ctx, t, q.tokens, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {q.id}, "client_secret": {q.secret.Reveal()},
		"code": {t.code}, "redirect_uri": {back}, "fmt": {"json"}, "need_openid": {"1"},
	})
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens)
	if err != nil {
		return Profile{}, err
	}
	me, err := q.me(ctx, t, token, tokens)
	if err != nil {
		return Profile{}, err
	}
	user, err := q.call(ctx, t, q.users, url.Values{
		"access_token": {token}, "oauth_consumer_key": {q.id}, "openid": {me.text("openid")},
	})
	if err == nil && user["ret"] == nil {
		user, err = nil, t.trouble("", "told of a person without saying that all is well")
	}
	if err := t.show(err); err != nil {
		return Profile{}, err
	}
	return t.profile(qqIdentity(tokens), qqIdentity(me), Profile{
		Nickname: user.text("nickname"),
		Avatar:   pictureURL(user.text("figureurl_qq"), user.text("figureurl_qq_2"), user.text("figureurl_qq_1")),
		Gender:   gender(user.text("gender"), "男", "女"),
		Location: location(user.text("province"), user.text("city")),
	})
}

// me requests the identity behind a token. Without the right to unionids it is the openid alone:
// the one that came with the token, or else that of a second request without unionid.
func (q *qq) me(ctx context.Context, t *exchange, token string, tokens object) (object, error) {
	params := url.Values{"access_token": {token}, "unionid": {"1"}, "fmt": {"json"}}
	me, err := q.call(ctx, t, q.openIDs, params)
	if no := new(Trouble); errors.As(err, &no) && no.Code == noUnionRight {
		if tokens.text("openid") != "" {
			return tokens, nil
		}
		params.Del("unionid")
		me, err = q.call(ctx, t, q.openIDs, params)
	}
	switch {
	case err != nil:
		return nil, err
	case me.text("openid") == "":
		return nil, t.trouble("", "did not tell whose the access token is")
	case me.text("client_id") != "" && me.text("client_id") != q.id:
		return nil, t.trouble("", "gave the access token of another application")
	}
	return me, nil
}

func (q *qq) call(ctx context.Context, t *exchange, endpoint string, params url.Values) (object, error) {
	a, err := t.get(ctx, endpoint, params, nil)
	if err != nil {
		return nil, err
	}
	parse := parseObject
	if endpoint == q.tokens {
		parse = parseObjectOrForm
	}
	return t.parse(a, parse, qqFault)
}

func parseObjectOrForm(body []byte) (object, bool) {
	if o, ok := parseObject(body); ok {
		return o, true
	}
	return parseForm(body)
}

func qqIdentity(o object) identity { return identity{o.text("unionid"), o.text("openid")} }
