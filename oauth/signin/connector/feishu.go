package connector

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
	"github.com/keystile/keystile/storage"
)

// Feishu is the Config of Feishu's web login, and of Lark's.
type Feishu struct {
	ID     string         // required: App ID, of an application with web login
	Secret storage.Secret // required: App Secret
	Client *http.Client   // nil: our own

	Lark bool // the organization is at Lark, outside China: other addresses, the same protocol

	AuthorizeURL string // "": https://accounts.feishu.cn/open-apis/authen/v1/authorize
	TokenURL     string // "": https://open.feishu.cn/open-apis/authen/v2/oauth/token
	UserURL      string // "": https://open.feishu.cn/open-apis/authen/v1/user_info
}

// feishu takes JSON, and verifies the code with PKCE. The verifier is derived from the state and the secret, so
// it is kept nowhere.
type feishu struct {
	*base
	authorize, tokens, users string
	visits                   pkce.Deriver
}

// NewFeishu makes the connector feishu, or reports all errors of the Config.
func NewFeishu(c Feishu) (Connector, error) {
	domain := "feishu.cn"
	if c.Lark {
		domain = "larksuite.com"
	}
	k := check{name: storage.LoginFeishu}
	f := &feishu{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, feishuMeanings, feishuFault),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://accounts."+domain+"/open-apis/authen/v1/authorize"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://open."+domain+"/open-apis/authen/v2/oauth/token"),
		users:     k.endpoint("UserURL", c.UserURL, "https://open."+domain+"/open-apis/authen/v1/user_info"),
	}
	f.visits = pkce.New(c.Secret, f.tokens, c.ID)
	return k.made(f)
}

var feishuMeanings = map[string]meaning{
	"20001":    {hint: "a parameter is missing or wrong"},
	"20002":    {hint: "the Secret is wrong"},
	"20003":    {err: ErrCode}, // no such code
	"20004":    {err: ErrCode}, // expired
	"20005":    {hint: "the access token is not accepted"},
	"20008":    {err: ErrStranger}, // no such user
	"20009":    {err: ErrStranger}, // their organization has not installed the application
	"20010":    {err: ErrStranger}, // they may not use the application
	"20021":    {err: ErrStranger}, // has left
	"20022":    {err: ErrStranger}, // is suspended
	"20023":    {err: ErrStranger}, // has not joined yet
	"20024":    {hint: "the code is another application's"},
	"20048":    {hint: "the ID is wrong"},
	"20049":    {err: ErrCode}, // PKCE
	"20050":    {hint: "busy; it passes"},
	"20065":    {err: ErrCode}, // used
	"20066":    {err: ErrStranger},
	"20069":    {hint: "the application is not enabled"},
	"20071":    {hint: "the return address is not the one entered in the console"},
	"20072":    {hint: "busy; it passes"},
	"99991400": {hint: "too many requests; it passes"},
	"99991663": {hint: "the access token is not accepted"},
	"99991668": {hint: "the access token is not accepted"},
	"99991677": {hint: "the access token has expired"},
}

// feishuFault returns the error of an answer: the token endpoint writes it as OAuth does, the
// others as Feishu does.
func feishuFault(o object) (code, text string) {
	return cmp.Or(o.fault("code"), o.fault("error")), cmp.Or(o.text("error_description"), o.text("msg"))
}

func (f *feishu) Begin(_ context.Context, v Visit) (string, error) {
	return addParams(f.authorize, url.Values{
		"client_id": {f.id}, "response_type": {"code"}, "redirect_uri": {v.Back}, "state": {v.State},
		"code_challenge": {pkce.Challenge(f.visits.Verifier(v.State))}, "code_challenge_method": {"S256"},
	}), nil
}

func (f *feishu) Finish(ctx context.Context, back string, query url.Values) (Profile, error) {
	ctx, t, done, err := f.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	verifier := f.visits.Verifier(query.Get("state"))
	t.hide(verifier)
	tokens, err := t.object(t.postJSON(ctx, f.tokens, map[string]string{
		"grant_type": "authorization_code", "client_id": f.id, "client_secret": f.secret.Reveal(),
		"code": t.code, "redirect_uri": back, "code_verifier": verifier,
	}))
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens, "code")
	if err != nil {
		return Profile{}, err
	}
	answer, err := t.object(t.get(ctx, f.users, nil, http.Header{"Authorization": {"Bearer " + token}}))
	if err != nil {
		return Profile{}, err
	}
	if answer["code"] == nil {
		return Profile{}, t.trouble("", "told of a person without saying that all is well")
	}
	user := answer.inner("data")
	return t.profile(identity{}, identity{user.text("union_id"), user.text("open_id")}, Profile{
		Nickname: user.text("name"), Avatar: pictureURL(user.text("avatar_url")),
		Email: cmp.Or(user.text("email"), user.text("enterprise_email")),
	})
}
