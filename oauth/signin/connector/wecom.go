package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage"
)

// WeCom is the Config of WeCom's web login, for the members of one corporation.
type WeCom struct {
	CorpID  string         // required: the corporation's id
	AgentID string         // required: AgentId, of an application of its own with web login
	Secret  storage.Secret // required: that application's Secret
	Client  *http.Client   // nil: our own

	AuthorizeURL string // "": https://login.work.weixin.qq.com/wwlogin/sso/login
	InAppURL     string // "": https://open.weixin.qq.com/connect/oauth2/authorize
	TokenURL     string // "": https://qyapi.weixin.qq.com/cgi-bin/gettoken
	IdentityURL  string // "": https://qyapi.weixin.qq.com/cgi-bin/auth/getuserinfo
	UserURL      string // "": https://qyapi.weixin.qq.com/cgi-bin/user/get
}

// wecom is asked with an access token of the application, not of the user.
type wecom struct {
	*base
	agent                                       string
	authorize, inApp, tokens, identities, users string
	corp                                        sharedToken
}

var agentShape = pattern.Lazy(`^[0-9]{1,16}$`)

// NewWeCom makes the connector wecom, or reports all errors of the Config.
func NewWeCom(c WeCom) (Connector, error) {
	k := check{name: storage.LoginWeCom}
	if !idShape().MatchString(c.CorpID) {
		k.add("CorpID: %q is no id of a corporation; the console shows it under My Company", c.CorpID)
	}
	if !agentShape().MatchString(c.AgentID) {
		k.add("AgentID: %q is no number of an application; the console shows it beside the Secret", c.AgentID)
	}
	w := &wecom{
		base:       newUpstream(k.name, c.CorpID, k.secret(c.Secret), c.Client, wecomMeanings, wxFault),
		agent:      c.AgentID,
		authorize:  k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://login.work.weixin.qq.com/wwlogin/sso/login"),
		inApp:      k.endpoint("InAppURL", c.InAppURL, "https://open.weixin.qq.com/connect/oauth2/authorize"),
		tokens:     k.endpoint("TokenURL", c.TokenURL, "https://qyapi.weixin.qq.com/cgi-bin/gettoken"),
		identities: k.endpoint("IdentityURL", c.IdentityURL, "https://qyapi.weixin.qq.com/cgi-bin/auth/getuserinfo"),
		users:      k.endpoint("UserURL", c.UserURL, "https://qyapi.weixin.qq.com/cgi-bin/user/get"),
	}
	w.corp.fetch = w.fetchToken
	return k.made(w)
}

// The codes of an access token of the application that is not valid, or no longer.
const (
	wecomBadToken = "40014"
	wecomOldToken = "42001"
)

var wecomMeanings = map[string]meaning{
	"-1":          {hint: "busy; it passes"},
	"40001":       {hint: "the Secret is wrong"},
	"40013":       {hint: "the CorpID is wrong"},
	wecomBadToken: {hint: "the access token is not accepted"},
	"40029":       {err: ErrCode}, // no such code, used or expired
	"40056":       {hint: "the AgentID is wrong"},
	"41008":       {err: ErrCode}, // missing
	wecomOldToken: {hint: "the access token has expired"},
	"42003":       {err: ErrCode}, // expired
	"45009":       {hint: "too many requests; it passes"},
	"45033":       {hint: "too many requests at once; it passes"},
	"48002":       {hint: "the application has no right to this"},
	"50001":       {hint: "the return address is not below the application's trusted domain"},
	"60011":       {err: ErrStranger}, // outside of those whom the application may see
	"60020":       {hint: "enter this server's address among the application's trusted addresses"},
	"60111":       {err: ErrStranger}, // no such member
}

// Begin leads a browser inside WeCom to a page that opens there alone, on phones and desktops. There no user
// has to scan a code with the phone in their hand.
func (w *wecom) Begin(_ context.Context, v Visit) (string, error) {
	if strings.Contains(strings.ToLower(v.UserAgent), "wxwork/") {
		return addParams(w.inApp, url.Values{
			"appid": {w.id}, "agentid": {w.agent}, "redirect_uri": {v.Back}, "response_type": {"code"}, "scope": {"snsapi_base"},
			"state": {v.State},
		}) + "#wechat_redirect", nil
	}
	return addParams(w.authorize, url.Values{
		"login_type": {"CorpApp"}, "appid": {w.id}, "agentid": {w.agent}, "redirect_uri": {v.Back}, "state": {v.State},
	}), nil
}

func (w *wecom) Finish(ctx context.Context, _ string, query url.Values) (Profile, error) {
	ctx, t, done, err := w.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	who, err := w.ask(ctx, t, w.identities, url.Values{"code": {t.code}})
	switch {
	case err != nil:
		return Profile{}, err
	case wecomID(who) == "" && cmp.Or(who.text("openid"), who.text("OpenId"), who.text("external_userid")) != "":
		return Profile{}, fmt.Errorf("%s: %w", t.name, ErrStranger)
	case wecomID(who) == "":
		return Profile{}, t.trouble("", "answered without userid")
	}
	user, err := w.ask(ctx, t, w.users, url.Values{"userid": {wecomID(who)}})
	if err := t.show(err); err != nil {
		return Profile{}, err
	}
	return t.profile(wecomIdentity(who), wecomIdentity(user), Profile{
		Nickname: user.text("name"),
		Avatar:   overTLS(pictureURL(user.text("avatar"))),
		Gender:   gender(user.text("gender"), "1", "2"),
	})
}

// wecomIdentity folds the case, which does not count there: an administrator may write it otherwise
// tomorrow.
//
// A user is a userid, which an administrator gives, and which another corporation may give to another person:
// the subject holds the corporation's id, and the userid in lower case, because case does not count there. A
// person who is not a member comes back with an openid instead and is refused: ErrStranger.
func wecomIdentity(o object) identity { return identity{open: strings.ToLower(wecomID(o))} }

// wecomID returns the id of a member, which the earlier endpoint called UserId, and which corporations on premises
// still do.
func wecomID(o object) string { return cmp.Or(o.text("userid"), o.text("UserId")) }

// ask makes a request with the application's access token. One that has been withdrawn is
// renewed, once: the code is not used up by a request that was refused for its token.
func (w *wecom) ask(ctx context.Context, t *exchange, endpoint string, params url.Values) (object, error) {
	stale := ""
	for {
		token, err := w.corp.get(ctx, stale)
		if err != nil {
			return nil, t.ended(err)
		}
		t.hide(token)
		params.Set("access_token", token)
		o, err := w.call(ctx, t, endpoint, params)
		if no := new(Trouble); stale == "" && errors.As(err, &no) && (no.Code == wecomBadToken || no.Code == wecomOldToken) {
			stale = token
			continue
		}
		return o, err
	}
}

func (w *wecom) call(ctx context.Context, t *exchange, endpoint string, params url.Values) (object, error) {
	o, err := t.object(t.get(ctx, endpoint, params, nil))
	if err == nil && o["errcode"] == nil {
		return nil, t.trouble("", "answered without errcode")
	}
	return o, err
}

// fetchToken requests an access token of the application, and says how many seconds it lives.
func (w *wecom) fetchToken(ctx context.Context) (token string, seconds int, err error) {
	t := &exchange{base: w.base, hidden: []string{w.secret.Reveal()}}
	o, err := w.call(ctx, t, w.tokens, url.Values{"corpid": {w.id}, "corpsecret": {w.secret.Reveal()}})
	if err != nil {
		return "", 0, err
	}
	if token, err = t.token(o); err != nil {
		return "", 0, err
	}
	seconds, _ = strconv.Atoi(o.text("expires_in")) // without one the token serves those who wait for it
	return token, seconds, nil
}
