package config

import (
	"net"
	"net/netip"

	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
)

// Credentials are the id and the secret that a provider has given the service.
type Credentials struct {
	ID     string
	Secret storage.Secret
}

// AlipayCredentials are those of Alipay, which signs and is signed to.
type AlipayCredentials struct {
	ID         string
	PrivateKey storage.Secret
	PublicKey  string
}

// FeishuCredentials are those of Feishu, or of Lark.
type FeishuCredentials struct {
	Credentials
	Lark bool
}

// WeComCredentials are those of an application of one corporation.
type WeComCredentials struct {
	CorpID, AgentID string
	Secret          storage.Secret
}

// connectorKeys are about other providers, where people may sign in.
func (c *Config) connectorKeys() []key {
	return []key{
		idKey("wx", "1", "id that WeChat", "open.weixin.qq.com", "wxd477edab60670232", &c.WX.ID),
		secretKey("wx.secret", "1", "the secret beside that id", &c.WX.Secret),
		c.signUpKey("wx", "WeChat"),
		idKey("qq", "1", "id that QQ", "connect.qq.com", "101896710", &c.QQ.ID),
		secretKey("qq.secret", "1", "the secret beside that id", &c.QQ.Secret),
		c.signUpKey("qq", "QQ"),
		idKey("douyin", "1", "id that Douyin", "developer.open-douyin.com", "aw1234567890abcd", &c.Douyin.ID),
		secretKey("douyin.secret", "1", "the secret beside that id", &c.Douyin.Secret),
		c.signUpKey("douyin", "Douyin"),
		idKey("alipay", "1", "id that Alipay", "open.alipay.com", "2021003129694075", &c.Alipay.ID),
		secretKey("alipay.private_key", "1",
			"the RSA key that signs what Alipay is asked: PKCS#8 or PKCS#1, as PEM or bare base64", &c.Alipay.PrivateKey),
		{name: "connectors.alipay.public_key", kind: "text", protocol: "1", help: "Alipay's own public key, which its " +
			"answers are checked by", example: "MIIBIjANBgkq...", set: maybe(text(&c.Alipay.PublicKey))},
		c.signUpKey("alipay", "Alipay"),
		idKey("feishu", "", "App ID that Feishu", "open.feishu.cn", "cli_a1b2c3d4e5f6", &c.Feishu.ID),
		secretKey("feishu.secret", "", "the App Secret beside that id", &c.Feishu.Secret),
		{name: "connectors.feishu.lark", kind: "true or false", fallback: "false", help: "whether the id is one of Lark, " +
			"which is Feishu outside China", example: "true", set: boolean(&c.Feishu.Lark)},
		c.signUpKey("feishu", "Feishu"),
		{name: "connectors.wecom.corp_id", kind: "text", help: "the id of the corporation at work.weixin.qq.com; with " +
			"it, its members may sign in there", example: "ww1234567890abcdef", set: maybe(text(&c.WeCom.CorpID))},
		{name: "connectors.wecom.agent_id", kind: "text", help: "the AgentId of the corporation's application with web " +
			"login", example: "1000002", set: maybe(text(&c.WeCom.AgentID))},
		secretKey("wecom.secret", "", "that application's Secret", &c.WeCom.Secret),
		c.signUpKey("wecom", "WeCom"),
		idKey("dingtalk", "", "Client ID that DingTalk", "open-dev.dingtalk.com", "dingabcdefghijklmnop", &c.DingTalk.ID),
		secretKey("dingtalk.secret", "", "the Client Secret beside that id", &c.DingTalk.Secret),
		c.signUpKey("dingtalk", "DingTalk"),
		{name: "connectors.oidc", kind: "list of objects", objects: true, never: inFlag, secret: true,
			help: "other providers that people may sign in with, by OpenID Connect: preset (oidc, google, keycloak, entra " +
				"or github), id and secret; issuer (oidc, keycloak) or tenant (entra); name, label, scopes, domains, signup, " +
				"trust_email (an address that it has verified is confirmed here; without it none is), allow_private, and " +
				"groups_claim with groups_map (the claim with the groups of a user there, and which groups they are here: at " +
				"each sign-in its users join and leave these; a document of keystile apply takes their place), see Let people " +
				"sign in as they know it",
			example: `[{preset: google, id: 123.apps.googleusercontent.com, secret: ...}]`, set: c.setOpenIDs},
		{name: "fake_providers", kind: "true or false", fallback: "false", help: "whether WeChat, QQ, Alipay, Douyin, " +
			"Feishu, WeCom, DingTalk, an issuer of OpenID Connect and GitHub are played by the service itself, for a " +
			"trial: a visitor signs in as any person and becomes a user whatever signup is, so it is for this machine alone",
			example: "true", set: boolean(&c.FakeProviders)},
	}
}

func idKey(name, protocol, what, site, example string, at *string) key {
	return key{name: "connectors." + name + ".id", kind: "text", protocol: protocol, example: example,
		set: maybe(text(at)), help: "the " + what + " gave the service at " + site + "; with it, people may sign in there"}
}

func secretKey(name, protocol, help string, at *storage.Secret) key {
	return key{name: "connectors." + name, kind: "text", protocol: protocol, help: help, never: inFlag, secret: true,
		set: hidden(at)}
}

func (c *Config) signUpKey(name, brand string) key {
	return key{name: "connectors." + name + ".signup", kind: "name", example: signin.SignUpInvitation,
		help: "which new people " + brand + " makes users: none (closed), those with the code of an invitation " +
			"(invitation), or all (open); without it, signup",
		set: c.connectorSignUp(name)}
}

// hidden is a text that is shown nowhere.
func hidden(at *storage.Secret) func(string) error {
	return func(s string) error {
		*at = storage.NewSecret(s)
		return nil
	}
}

// signUps are the values of signup.
var signUps = []string{signin.SignUpClosed, signin.SignUpInvitation, signin.SignUpOpen}

// connectorSignUp says whom a connector makes a user of.
func (c *Config) connectorSignUp(name string) func(string) error {
	return maybe(func(s string) error {
		if c.ConnectorSignUp == nil {
			c.ConnectorSignUp = map[string]string{}
		}
		said := ""
		err := choice(&said, signUps...)(s)
		c.ConnectorSignUp[name] = said
		return err
	})
}

// checkConnectors refuses half of a provider's credentials, and fakes where others could
// reach them.
func (l *loader) checkConnectors(c *Config) {
	for name, k := range map[string]Credentials{"wx": c.WX, "qq": c.QQ, "douyin": c.Douyin, "feishu": c.Feishu.Credentials,
		"dingtalk": c.DingTalk} {
		if (k.ID == "") != k.Secret.IsZero() {
			l.complain("connectors.%s: give both id and secret, or neither", name)
		}
	}
	a := c.Alipay
	if set := a.ID != ""; set == a.PrivateKey.IsZero() || set == (a.PublicKey == "") {
		l.complain("connectors.alipay: give all of id, private_key and public_key, or none")
	}
	if w := c.WeCom; (w.CorpID == "") != w.Secret.IsZero() || (w.CorpID == "") != (w.AgentID == "") {
		l.complain("connectors.wecom: give all of corp_id, agent_id and secret, or none")
	}
	if c.Feishu.Lark && c.Feishu.ID == "" {
		l.complain("connectors.feishu.lark: give id and secret too, or leave it out")
	}
	ids := map[string]string{"wx": c.WX.ID, "qq": c.QQ.ID, "douyin": c.Douyin.ID, "alipay": a.ID, "feishu": c.Feishu.ID,
		"wecom": c.WeCom.CorpID, "dingtalk": c.DingTalk.ID}
	for name := range c.ConnectorSignUp {
		if ids[name] == "" && !c.FakeProviders {
			l.complain("connectors.%s.signup: the connector is not set up; give its id and secret too, or leave it out", name)
		}
	}
	real := c.WX.ID + c.QQ.ID + c.Douyin.ID + a.ID + c.Feishu.ID + c.WeCom.CorpID + c.DingTalk.ID
	for _, o := range c.OpenID {
		real += o.ID
	}
	switch host, _, _ := net.SplitHostPort(c.Listen); {
	case !c.FakeProviders:
	case real != "":
		l.complain("fake_providers: there are real ones too; keep one of them")
	case !isLoopback(host):
		l.complain("fake_providers: a visitor can sign in as any user, so set listen to a loopback address such as "+
			"127.0.0.1:8080, not %s", c.Listen)
	}
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
