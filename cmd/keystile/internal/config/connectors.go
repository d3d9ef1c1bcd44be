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

// hidden is a text that is shown nowhere.
func hidden(at func(*Config) *storage.Secret) func(*Config, string) error {
	return func(c *Config, s string) error {
		*at(c) = storage.NewSecret(s)
		return nil
	}
}

// signUps are the values of signup.
var signUps = []string{signin.SignUpClosed, signin.SignUpInvitation, signin.SignUpOpen}

// connectorSignUp says whom a connector makes a user of.
func connectorSignUp(name string) func(*Config, string) error {
	return maybe(func(c *Config, s string) error {
		if c.ConnectorSignUp == nil {
			c.ConnectorSignUp = map[string]string{}
		}
		said := ""
		err := choice(func(*Config) *string { return &said }, signUps...)(c, s)
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
			l.complain("connectors.%s.signup: nobody signs in there; give its id and secret too, or leave it out", name)
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
		l.complain("fake_providers: anybody signs in as anybody, so listen is a loopback address such as 127.0.0.1:8080, "+
			"not %s", c.Listen)
	}
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
