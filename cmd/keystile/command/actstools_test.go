package command

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/trust"
)

// toolActs are the acts on what surrounds capabilities.
var toolActs = []act{
	{
		name: "access rule added", before: withCapability, silent: true,
		console: `POST /api/console/access/{member} {"subject":"user:{username}","deny":true,"tools":["get"]}`,
		command: "capability access {member} --deny user:{username} --tools get",
	},
	{
		name: "access rule removed", before: withRule, silent: true,
		console: "DELETE /api/console/access/{member}/{rule}",
		command: "capability access {member} --reset",
	},
	{
		name: "bundle create", before: withCapability, silent: true,
		console: `POST /api/console/bundles {"name":"{member}all","label":"All","tools":["{member}__*","{member}__get"]}`,
		command: "capability bundle create {member}all --label All --tools {member}__*,{member}__get",
	},
	{
		name: "bundle access", before: withCapability, silent: true,
		console: `POST /api/console/bundles/{member}/access {"subject":"role:developer","deny":true}`,
		command: "capability bundle access {member} --deny role:developer",
	},
	{
		name: "bundle delete", before: withCapability, silent: true,
		console: "DELETE /api/console/bundles/{member}",
		command: "capability bundle delete {member}",
	},
	{
		name: "delivery sent again", before: withDelivery, silent: true,
		console: "POST /api/console/deliveries/{member}/{delivery}/resend {}",
	},
}

// serviceActs are the acts on the service as a whole.
var serviceActs = []act{
	{
		name: "setting set", before: withoutForcedPKCE, silent: true, service: true,
		console: `PATCH /api/console/settings {"name":"` + storage.SettingForcePKCE + `","value":"1"}`,
		command: "setting set oauth_force_pkce 1",
	},
	{
		name: "key rotate", silent: true, service: true,
		console: `POST /api/console/keys/rotate {"alg":"ES256"}`,
		command: "key rotate --alg ES256",
	},
	{
		name: "key retire", before: withRetiredKey, silent: true, service: true,
		console: `POST /api/console/keys/retire {"kid":"{kid}"}`,
		command: "key retire -- {kid}",
	},
	{name: "webhook set", before: withWebhook, silent: true, service: true,
		command: "webhook set --url https://hooks.example.com/{username}"},
	{name: "webhook secret", before: withWebhook, silent: true, service: true,
		command: "webhook set --url http://127.0.0.1:1/users --new-secret"},
	{name: "issuer add", silent: true, service: true,
		command: "issuer add https://idp.example.com/{username} --use id-jag --create --scopes openid,tools"},
	{name: "issuer remove", before: withIssuer, silent: true, service: true,
		command: "issuer remove https://idp.example.com/{username}"},
}

// withIssuer has an issuer that is trusted.
func withIssuer(s *scene) {
	_, err := s.store.SaveIssuer(s.Context(), trust.Issuer{Issuer: s.filled("https://idp.example.com/{username}"),
		Use: trust.IDJAG})
	fatal(s, err)
}

// withCapability has {member}, a capability with the tool get and with one rule, and the bundle {member}.
func withCapability(s *scene) {
	s.set("member", "shop"+s.ada.Username)
	s.capability(s.ada, storage.App{}, s.filled("{member}"))
}

// withRule has {rule}, the one of a capability.
func withRule(s *scene) {
	withCapability(s)
	root := s.somebody("root", storage.RoleAdmin, justNow)
	_, out := s.send("GET", s.filled("/api/console/access/{member}"), "",
		http.Header{"Cookie": {"open_sso_token=" + root.cookie}})
	var shown struct {
		Data struct {
			Rules []struct{ ID string }
		}
	}
	fatal(s, json.Unmarshal(out.Body.Bytes(), &shown))
	s.set("rule", shown.Data.Rules[0].ID)
}

// withDelivery has {delivery}, which was given up.
func withDelivery(s *scene) {
	withCapability(s)
	c, tools, err := s.store.Tools(s.Context(), s.filled("{member}"))
	fatal(s, err)
	_, err = s.store.SaveCapability(s.Context(), c, tools, storage.Delivery{Event: "tools.changed",
		URL: "https://hook.example.com/", Payload: []byte("{}")})
	fatal(s, err)
	all, err := s.store.Deliveries(s.Context(), c.Member)
	fatal(s, err)
	all[0].GivenUpAt = time.Now()
	d, err := s.store.SaveDelivery(s.Context(), all[0])
	fatal(s, err)
	s.set("delivery", d.ID)
}

func withoutForcedPKCE(s *scene) { fatal(s, s.store.Set(s.Context(), storage.SettingForcePKCE, "0")) }

// withWebhook has user events sent to where every scene begins.
func withWebhook(s *scene) {
	_, err := s.store.SetUserWebhook(s.Context(), "http://127.0.0.1:1/users", false)
	fatal(s, err)
}

// withRetiredKey has {kid}, of the key that has signed until now.
func withRetiredKey(s *scene) {
	keys, err := s.store.SigningKeys(s.Context())
	fatal(s, err)
	_, err = s.b.Tokens.RotateKey(s.Context(), token.ES256)
	fatal(s, err)
	i := slices.IndexFunc(keys, func(k storage.SigningKey) bool {
		return k.Alg == token.ES256 && k.State == storage.KeyActive
	})
	s.set("kid", keys[i].ID)
}
