package command

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
)

// connectorsOf returns the providers that people may sign in with: the configured ones, or the
// fakes, whose pages are served at fake.Path then.
func connectorsOf(c *config.Config, base string, log *slog.Logger) (all []connector.Connector, fakes http.Handler, err error) {
	if !c.FakeProviders {
		all, err = configured(c)
		return all, nil, err
	}
	pages, err := fake.New(fake.Config{BaseURL: base, Log: log})
	if err != nil {
		return nil, nil, err
	}
	log.Warn("the providers are fakes: anybody signs in as anybody")
	all, err = made(pages.Configs())
	return all, pages, err
}

func configured(c *config.Config) ([]connector.Connector, error) {
	return made(fake.Configs{
		WX: connector.WX{ID: c.WX.ID, Secret: c.WX.Secret}, QQ: connector.QQ{ID: c.QQ.ID, Secret: c.QQ.Secret},
		Alipay: connector.Alipay{ID: c.Alipay.ID, PrivateKey: c.Alipay.PrivateKey, PublicKey: c.Alipay.PublicKey},
		Douyin: connector.Douyin{ID: c.Douyin.ID, Secret: c.Douyin.Secret},
		Feishu: connector.Feishu{ID: c.Feishu.ID, Secret: c.Feishu.Secret, Lark: c.Feishu.Lark},
		WeCom:  connector.WeCom{CorpID: c.WeCom.CorpID, AgentID: c.WeCom.AgentID, Secret: c.WeCom.Secret}, DingTalk: connector.DingTalk{ID: c.DingTalk.ID, Secret: c.DingTalk.Secret},
	})
}

// made makes those that have an id, in the order in which they stand on the page.
func made(c fake.Configs) (all []connector.Connector, err error) {
	add := func(id string, make func() (connector.Connector, error)) {
		if id == "" {
			return
		}
		one, wrong := make()
		all, err = append(all, one), errors.Join(err, wrong)
	}
	add(c.WX.ID, func() (connector.Connector, error) { return connector.NewWX(c.WX) })
	add(c.Alipay.ID, func() (connector.Connector, error) { return connector.NewAlipay(c.Alipay) })
	add(c.QQ.ID, func() (connector.Connector, error) { return connector.NewQQ(c.QQ) })
	add(c.Douyin.ID, func() (connector.Connector, error) { return connector.NewDouyin(c.Douyin) })
	add(c.WeCom.CorpID, func() (connector.Connector, error) { return connector.NewWeCom(c.WeCom) })
	add(c.DingTalk.ID, func() (connector.Connector, error) { return connector.NewDingTalk(c.DingTalk) })
	add(c.Feishu.ID, func() (connector.Connector, error) { return connector.NewFeishu(c.Feishu) })
	return all, err
}
