package command

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/storage"
)

// connectorsOf returns the providers that people may sign in with: the configured ones, or the
// fakes, whose pages are served at fake.Path then.
func connectorsOf(c *config.Config, base string, store *storage.Store,
	log *slog.Logger) (all []connector.Connector, handler http.Handler, err error) {
	if !c.FakeProviders {
		all, err = configured(c, store)
		return all, nil, err
	}
	pages, err := fake.New(fake.Config{BaseURL: base, Log: log})
	if err != nil {
		return nil, nil, err
	}
	log.Warn("the providers are fakes: anybody signs in as anybody, and becomes a user whatever signup says, so tools " +
		"without an access list are their owners'")
	fakes := pages.Configs()
	if all, err = made(fakes); err != nil {
		return nil, nil, err
	}
	issuer, err := oidc.New(fakes.OIDC)
	github, wrong := connector.NewGitHub(fakes.GitHub)
	return append(all, issuer, github), pages, errors.Join(err, wrong)
}

func configured(c *config.Config, store *storage.Store) ([]connector.Connector, error) {
	all, err := made(fake.Configs{
		WX: connector.WX{ID: c.WX.ID, Secret: c.WX.Secret}, QQ: connector.QQ{ID: c.QQ.ID, Secret: c.QQ.Secret},
		Alipay:   connector.Alipay{ID: c.Alipay.ID, PrivateKey: c.Alipay.PrivateKey, PublicKey: c.Alipay.PublicKey},
		Douyin:   connector.Douyin{ID: c.Douyin.ID, Secret: c.Douyin.Secret},
		Feishu:   connector.Feishu{ID: c.Feishu.ID, Secret: c.Feishu.Secret, Lark: c.Feishu.Lark},
		WeCom:    connector.WeCom{CorpID: c.WeCom.CorpID, AgentID: c.WeCom.AgentID, Secret: c.WeCom.Secret},
		DingTalk: connector.DingTalk{ID: c.DingTalk.ID, Secret: c.DingTalk.Secret},
	})
	for _, o := range c.OpenID {
		one, wrong := openID(o, store)
		all, err = append(all, one), errors.Join(err, wrong)
	}
	return all, err
}

// issuerOf returns the issuer of a preset, "" if it has none.
func issuerOf(o config.OpenID) string {
	switch o.Preset {
	case "google":
		return oidc.Google
	case "entra":
		return oidc.Entra(o.Tenant)
	}
	return o.Issuer
}

// issuers returns the names of the connectors of OpenID Connect that are configured, by issuer.
func issuers(c *config.Config) map[string]string {
	all := map[string]string{}
	for _, o := range c.OpenID {
		if issuer := issuerOf(o); issuer != "" {
			all[issuer] = o.Name
		}
	}
	return all
}

// grouped returns the names of the connectors that are configured and may say which groups their users are in.
func grouped(c *config.Config) (names []string) {
	for _, o := range c.OpenID {
		if issuerOf(o) != "" {
			names = append(names, o.Name)
		}
	}
	return names
}

// openID makes the connector of a preset.
func openID(o config.OpenID, store *storage.Store) (connector.Connector, error) {
	if o.Preset == "github" {
		return connector.NewGitHub(connector.GitHub{Name: o.Name, Label: o.Label, ID: o.ID, Secret: o.Secret,
			Domains: o.Domains, TrustEmail: o.TrustEmail})
	}
	return oidc.New(oidc.Config{
		Name: o.Name, Label: o.Label, Issuer: issuerOf(o), ClientID: o.ID, ClientSecret: o.Secret,
		Scopes: o.Scopes, Domains: o.Domains, AllowPrivate: o.AllowPrivate, TrustEmail: o.TrustEmail,
		GroupsClaim: o.GroupsClaim, GroupsMap: o.GroupsMap, Mapped: store.GroupMapping,
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
