package main

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
)

// connectors are the providers that people may sign in with: the configured ones, or the
// fakes, which are a door of their own.
func (b *builder) connectors() ([]connector.Connector, error) {
	if !b.c.FakeProviders {
		return connectorsOf(b.c)
	}
	fakes, err := fake.New(fake.Config{BaseURL: b.base, Log: b.log})
	if err != nil {
		return nil, err
	}
	b.log.Warn("the providers are fakes: anybody signs in as anybody")
	b.doors = append(b.doors, door{fake.Path, http.Handler(fakes)})
	return made(fakes.Configs())
}

func connectorsOf(c *config.Config) ([]connector.Connector, error) {
	return made(fake.Configs{
		WX: connector.WX{ID: c.WX.ID, Secret: c.WX.Secret}, QQ: connector.QQ{ID: c.QQ.ID, Secret: c.QQ.Secret},
		Alipay: connector.Alipay{ID: c.Alipay.ID, PrivateKey: c.Alipay.PrivateKey, PublicKey: c.Alipay.PublicKey},
		Douyin: connector.Douyin{ID: c.Douyin.ID, Secret: c.Douyin.Secret},
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
	return all, err
}
