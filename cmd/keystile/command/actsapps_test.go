package command

import (
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// appActs are the acts on applications, their orders, and clients that nobody registered.
var appActs = []act{
	{
		name:    "app create",
		console: `POST /api/console/apps {"name":"New","domains":["new.example"],"owner":"{sub}"}`,
		api:     `POST /api/v1/apps {"name":"New","domains":["new.example"]}`,
		command: "app create --name New --domain new.example --owner {username}",
	},
	{
		name: "app set", silent: true,
		console: `PATCH /api/console/apps/{client_id} {"legacy_success_code":0}`,
		api:     `PATCH /api/v1/apps/{client_id} {"legacy_success_code":0}`,
		command: "app set {client_id} --legacy-success-code 0",
	},
	{
		name:    "domain added",
		console: `PATCH /api/console/apps/{client_id} {"domains":["app.example.com","more.example"]}`,
		api:     `PATCH /api/v1/apps/{client_id} {"domains":["app.example.com","more.example"]}`,
		command: "app set {client_id} --add-domain more.example",
	},
	{
		name:    "second factor required",
		console: `PATCH /api/console/apps/{client_id} {"mfa":"required"}`,
		command: "app set {client_id} --mfa required",
	},
	{
		name:    "tokens bound to a key",
		console: `PATCH /api/console/apps/{client_id} {"dpop":"required"}`,
		command: "app set {client_id} --dpop required",
	},
	{
		name: "app for some users",
		console: `PATCH /api/console/apps/{client_id} {"allow":["role:developer","user:{username}"],"deny":["role:auditor"],` +
			`"group_filter":["team-*"],"groups_in_access_token":true,"claims":[{"claim":"department","from":"attribute:dept"}]}`,
		command: "app set {client_id} --allow role:developer --allow user:{username} --deny role:auditor " +
			`--group-filter team-* --groups-in-access-token --claims [{"claim":"department","from":"attribute:dept"}]`,
	},
	{
		name: "app that proves itself by keys",
		console: `PATCH /api/console/apps/{client_id} {"jwks_uri":"https://app.example.com/keys","keep_secret":true,` +
			`"exchange":true,"exchange_for":["{client_id}"]}`,
		command: "app set {client_id} --jwks https://app.example.com/keys --keep-secret --exchange " +
			"--exchange-for {client_id}",
	},
	{
		name:    "app disabled",
		console: `PATCH /api/console/apps/{client_id} {"disabled":true}`,
		command: "app set {client_id} --disabled",
	},
	{
		name:    "app given away",
		console: `PATCH /api/console/apps/{client_id} {"owner":""}`,
		command: "app set {client_id} --owner=",
	},
	{
		name:    "secret rotated",
		console: `POST /api/console/apps/{client_id}/secret {"overlap_seconds":0}`,
		api:     `POST /api/v1/apps/{client_id}/secret {"overlap_seconds":0}`,
		command: "app rotate-secret {client_id} --overlap 0",
	},
	{
		name:    "app delete",
		console: "DELETE /api/console/apps/{client_id}",
		api:     "DELETE /api/v1/apps/{client_id}",
		command: "app delete {client_id} --yes",
	},
	{
		name:    "tier set",
		console: `POST /api/console/tiers {"client_id":"{client_id}","tier":"white_label","until":"2199-05-01"}`,
		command: "tier set {client_id} white_label --until 2199-05-01",
	},
	{
		name:    "tier set by app set",
		console: `POST /api/console/tiers {"client_id":"{client_id}","tier":"white_label"}`,
		command: "app set {client_id} --tier white_label",
	},
	{name: "order placed", silent: true, api: `POST /api/v1/billing/upgrade {"client_id":"{client_id}","tier":"free"}`},
	{
		name: "order approved", before: withOrder,
		console: "POST /api/console/orders/{order}/approve {}",
		command: "billing approve {order}",
	},
	{
		name: "order rejected", before: withOrder,
		console: `POST /api/console/orders/{order}/reject {"reason":"unpaid"}`,
		command: "billing reject {order} --reason unpaid",
	},
	{
		name: "order canceled", before: withOrder,
		console: "DELETE /api/console/orders/{order}",
		api:     "DELETE /api/v1/billing/orders/{order}",
	},
	{
		name: "client disabled", before: withAgents, silent: true,
		console: `POST /api/console/clients/set {"client_id":"{agent}","disabled":true}`,
		command: "client deny {agent}",
	},
	{
		name: "client host denied", before: withAgents, silent: true,
		console: `POST /api/console/clients/hosts {"host":"{host}","policy":"denied"}`,
		command: "client deny {host}",
	},
	{
		name: "client host trusted", before: withAgents, silent: true,
		console: `POST /api/console/clients/hosts {"host":"{host}","policy":"trusted"}`,
		command: "client trust {document}",
	},
	{
		name: "client host forgotten", before: withTrust, silent: true,
		console: "DELETE /api/console/clients/hosts/{host}",
		command: "client forget {host}",
	},
	{
		name: "document read again", before: withAgents, silent: true,
		console: `POST /api/console/clients/refetch {"client_id":"{document}"}`,
		command: "client refetch {document}",
	},
	{name: "client removed", before: withAgents, silent: true, console: `POST /api/console/clients/forget {"client_id":"{agent}"}`},
}

// withOrder has {order}, which waits.
func withOrder(s *scene) {
	app, err := s.store.App(s.Context(), s.filled("{client_id}"))
	fatal(s, err)
	o := storage.Order{
		ID: handle.NewOrderID(time.Now()), AppID: app.ID, Owner: app.Owner, From: app.Tier, Tier: storage.TierWhiteLabel,
		CreatedAt: time.Now(), Status: storage.OrderPending,
	}
	app.Order = o.ID
	_, _, err = s.store.SaveOrder(s.Context(), o, app)
	fatal(s, err)
	s.set("order", o.ID)
}

// withAgents has {agent}, which has registered itself, and {document} of a {host}.
func withAgents(s *scene) {
	host := s.filled("{username}.example")
	agents := map[string]string{handle.NewClientID(): client.Dynamic,
		client.DocumentPrefix + host + "/client.json": client.Document}
	for id, kind := range agents {
		_, err := s.store.SaveApp(s.Context(), storage.App{ID: id, Name: "Agent", Public: true, Client: &client.Description{
			Kind: kind, AuthMethod: client.AuthNone, RedirectURIs: []string{"http://127.0.0.1/cb"},
			Grants:     []string{"authorization_code"},
			FreshUntil: time.Now().Add(time.Hour), ExpiresAt: time.Now().Add(time.Hour),
		}})
		fatal(s, err)
		if kind == client.Dynamic {
			s.set("agent", id)
		} else {
			s.set("document", id)
		}
	}
	s.set("host", host)
}

func withTrust(s *scene) {
	withAgents(s)
	_, err := s.store.SetClientHost(s.Context(), s.filled("{host}"), false)
	fatal(s, err)
}
