package fake

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/storage"
)

// Path is the default path of the fake.
const Path = "/fake-providers"

// The ids of the fake's applications at the providers.
const (
	wxID     = "wxfa4e000000000001"
	qqID     = "100000001"
	alipayID = "2021000000000001"
	douyinID = "awfake0000000001"

	feishuID   = "cli_fa4e000000000001"
	wecomID    = "wwfa4e000000000001"
	wecomAgent = "1000001"
	dingtalkID = "dingfake000000000001"
)

// Config says how to make a Fake.
type Config struct {
	BaseURL string       // required: our own origin. Browsers are redirected nowhere else
	Path    string       // "": Path. The fake serves everything below it, and expects the whole path
	Log     *slog.Logger // nil: slog.Default()
}

// Fake is an http.Handler that implements the providers below Path/wx, /qq, /alipay, /douyin,
// /feishu, /wecom, /dingtalk, /oidc and /github.
type Fake struct {
	mux                  *reply.Mux
	base, path           string
	issuer               *issuer
	secret               storage.Secret  // of its applications at all but alipay
	application, gateway *rsa.PrivateKey // alipay's two pairs
	keys                 keyring         // of the issuer of OpenID Connect
	sameOrigin           *http.CrossOriginProtection
}

// New makes a Fake and draws its keys.
func New(c Config) (*Fake, error) {
	f := &Fake{
		base: c.BaseURL, path: cmp.Or(c.Path, Path), issuer: newIssuer(), secret: storage.DrawSecret(),
		sameOrigin: http.NewCrossOriginProtection(),
	}
	var errs []error
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" ||
		c.BaseURL != base.Scheme+"://"+base.Host {
		errs = append(errs, fmt.Errorf("fake: BaseURL: %q is no origin; give one such as http://127.0.0.1:8080", c.BaseURL))
	}
	if at, err := url.Parse(f.path); err != nil || at.Path != f.path || !strings.HasPrefix(f.path, "/") ||
		strings.HasSuffix(f.path, "/") || strings.ContainsAny(f.path, "{}") {
		errs = append(errs, fmt.Errorf("fake: Path: %q must begin with a slash and not end with one", f.path))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := f.sameOrigin.AddTrustedOrigin(c.BaseURL); err != nil {
		return nil, fmt.Errorf("fake: BaseURL: %w", err)
	}
	for _, key := range []**rsa.PrivateKey{&f.application, &f.gateway} {
		if *key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return nil, fmt.Errorf("fake: %w", err)
		}
	}
	f.mux = reply.NewMux(c.Log, f.routes()...)
	return f, nil
}

func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.mux.ServeHTTP(w, r) }

func (f *Fake) routes() []reply.Route {
	page := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	routes := []reply.Route{
		{Path: "/wx/connect/qrconnect", Methods: page, Handle: f.page(wxPage), Fail: failPage},
		{Path: "/wx/sns/oauth2/access_token", Methods: get[:1], Handle: f.wxToken},
		{Path: "/wx/sns/userinfo", Methods: get[:1], Handle: f.wxUser},

		{Path: "/qq/oauth2.0/authorize", Methods: page, Handle: f.page(qqPage), Fail: failPage},
		{Path: "/qq/oauth2.0/token", Methods: get[:1], Handle: f.qqToken},
		{Path: "/qq/oauth2.0/me", Methods: get[:1], Handle: f.qqMe},
		{Path: "/qq/user/get_user_info", Methods: get[:1], Handle: f.qqUser},

		{Path: "/alipay/oauth2/publicAppAuthorize.htm", Methods: page, Handle: f.page(alipayPage), Fail: failPage},
		{Path: "/alipay/gateway.do", Methods: post, Handle: f.alipayGateway},

		{Path: "/douyin/platform/oauth/connect/{$}", Methods: page, Handle: f.page(douyinPage), Fail: failPage},
		{Path: "/douyin/oauth/access_token/{$}", Methods: post, Handle: f.douyinToken},
		{Path: "/douyin/oauth/userinfo/{$}", Methods: post, Handle: f.douyinUser},

		{Path: "/feishu/open-apis/authen/v1/authorize", Methods: page, Handle: f.page(feishuPage), Fail: failPage},
		{Path: "/feishu/open-apis/authen/v2/oauth/token", Methods: post, Handle: f.feishuToken},
		{Path: "/feishu/open-apis/authen/v1/user_info", Methods: get[:1], Handle: f.feishuUser},

		{Path: "/wecom/wwlogin/sso/login", Methods: page, Handle: f.page(wecomPage), Fail: failPage},
		{Path: "/wecom/connect/oauth2/authorize", Methods: page, Handle: f.page(wecomInApp), Fail: failPage},
		{Path: "/wecom/cgi-bin/gettoken", Methods: get[:1], Handle: f.wecomToken},
		{Path: "/wecom/cgi-bin/auth/getuserinfo", Methods: get[:1], Handle: f.wecomWho},
		{Path: "/wecom/cgi-bin/user/get", Methods: get[:1], Handle: f.wecomUser},

		{Path: "/dingtalk/oauth2/auth", Methods: page, Handle: f.page(dingPage), Fail: failPage},
		{Path: "/dingtalk/v1.0/oauth2/userAccessToken", Methods: post, Handle: f.dingtalkToken},
		{Path: "/dingtalk/v1.0/contact/users/me", Methods: get[:1], Handle: f.dingtalkUser},

		{Path: "/oidc/.well-known/openid-configuration", Methods: get[:1], Handle: f.openIDDocument},
		{Path: "/oidc/jwks", Methods: get[:1], Handle: f.openIDKeys},
		{Path: "/oidc/authorize", Methods: page, Handle: f.page(oidcPage), Fail: failPage},
		{Path: "/oidc/token", Methods: post, Handle: f.openIDToken},
		{Path: "/oidc/userinfo", Methods: get[:1], Handle: f.openIDUser},

		{Path: "/github/login/oauth/authorize", Methods: page, Handle: f.page(githubPage), Fail: failPage},
		{Path: "/github/login/oauth/access_token", Methods: post, Handle: f.githubToken},
		{Path: "/github/user", Methods: get[:1], Handle: f.githubUser},
		{Path: "/github/user/emails", Methods: get[:1], Handle: f.githubEmails},

		{Path: "/face/{name}", Methods: get, Handle: f.face},
	}
	for i := range routes {
		routes[i].Path = f.path + routes[i].Path
	}
	return routes
}

// Configs holds the Configs of connectors to the fake.
type Configs struct {
	WX     connector.WX
	QQ     connector.QQ
	Alipay connector.Alipay
	Douyin connector.Douyin

	Feishu   connector.Feishu
	WeCom    connector.WeCom
	DingTalk connector.DingTalk
	OIDC     oidc.Config
	GitHub   connector.GitHub
}

// Configs returns the Configs of the connectors. They send their requests to BaseURL.
func (f *Fake) Configs() Configs {
	at := f.base + f.path
	return Configs{
		WX: connector.WX{
			ID: wxID, Secret: f.secret, AuthorizeURL: at + "/wx/connect/qrconnect",
			TokenURL: at + "/wx/sns/oauth2/access_token", UserURL: at + "/wx/sns/userinfo",
		},
		QQ: connector.QQ{
			ID: qqID, Secret: f.secret, AuthorizeURL: at + "/qq/oauth2.0/authorize",
			TokenURL: at + "/qq/oauth2.0/token", OpenIDURL: at + "/qq/oauth2.0/me", UserURL: at + "/qq/user/get_user_info",
		},
		Alipay: connector.Alipay{
			ID: alipayID, PrivateKey: privateText(f.application), PublicKey: publicText(f.gateway),
			AuthorizeURL: at + "/alipay/oauth2/publicAppAuthorize.htm", GatewayURL: at + "/alipay/gateway.do",
		},
		Douyin: connector.Douyin{
			ID: douyinID, Secret: f.secret, AuthorizeURL: at + "/douyin/platform/oauth/connect/",
			TokenURL: at + "/douyin/oauth/access_token/", UserURL: at + "/douyin/oauth/userinfo/",
		},
		Feishu: connector.Feishu{
			ID: feishuID, Secret: f.secret, AuthorizeURL: at + "/feishu/open-apis/authen/v1/authorize",
			TokenURL: at + "/feishu/open-apis/authen/v2/oauth/token", UserURL: at + "/feishu/open-apis/authen/v1/user_info",
		},
		WeCom: connector.WeCom{
			CorpID: wecomID, AgentID: wecomAgent, Secret: f.secret,
			AuthorizeURL: at + "/wecom/wwlogin/sso/login", InAppURL: at + "/wecom/connect/oauth2/authorize",
			TokenURL: at + "/wecom/cgi-bin/gettoken", IdentityURL: at + "/wecom/cgi-bin/auth/getuserinfo",
			UserURL: at + "/wecom/cgi-bin/user/get",
		},
		DingTalk: connector.DingTalk{
			ID: dingtalkID, Secret: f.secret, AuthorizeURL: at + "/dingtalk/oauth2/auth",
			TokenURL: at + "/dingtalk/v1.0/oauth2/userAccessToken", UserURL: at + "/dingtalk/v1.0/contact/users/me",
		},
		OIDC: f.openIDConfig(),
		GitHub: connector.GitHub{
			ID: githubID, Secret: f.secret, AuthorizeURL: at + "/github/login/oauth/authorize",
			TokenURL: at + "/github/login/oauth/access_token", UserURL: at + "/github/user",
			EmailsURL: at + "/github/user/emails",
		},
	}
}

// privateText and publicText write keys as alipay's key tool does: bare base64.
func privateText(key *rsa.PrivateKey) storage.Secret {
	return storage.NewSecret(base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key)))
}

func publicText(key *rsa.PrivateKey) string {
	raw, _ := x509.MarshalPKIXPublicKey(key.Public()) // an RSA key always can be
	return base64.StdEncoding.EncodeToString(raw)
}
