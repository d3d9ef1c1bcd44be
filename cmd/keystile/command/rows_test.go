package command

// rows are the endpoints, each as somebody asks who wants what it is for. A path with .php
// behind it is the same endpoint.
var rows = []row{
	// What anybody may know.
	{method: "GET", path: "/{$}"},
	{method: "GET", path: "/openapi.json"},
	{method: "GET", path: "/healthz/live"},
	{method: "GET", path: "/healthz/ready"},
	{method: "GET", path: "/.well-known/openid-configuration"},
	{method: "GET", path: "/.well-known/oauth-authorization-server"},
	{method: "GET", path: "/.well-known/oauth-protected-resource"},
	{method: "GET", path: "/.well-known/oauth-protected-resource/api/mcp"},
	{method: "GET", path: "/oauth/jwks"},

	// The provider.
	{method: "GET", path: "/oauth/authorize", query: "response_type=code&client_id={client_id}&redirect_uri={callback}", about: true},
	{method: "POST", path: "/oauth/authorize", body: "response_type=code&client_id={client_id}&redirect_uri={callback}&prompt=none&scope=apps"},
	{method: "POST", path: "/oauth/token", body: "grant_type=client_credentials&client_id={client_id}&client_secret={secret}", about: true},
	{method: "POST", path: "/oauth/revoke", body: "token=none&client_id={client_id}&client_secret={secret}", about: true},
	{method: "POST", path: "/oauth/device_authorization", body: "client_id={client_id}&client_secret={secret}", about: true},
	{method: "POST", path: "/oauth/introspect", body: "token=none&client_id={client_id}&client_secret={secret}", about: true},
	{method: "GET", path: "/oauth/userinfo"},
	{method: "POST", path: "/oauth/userinfo"},
	{method: "GET", path: "/oauth/logout"},
	{method: "POST", path: "/oauth/logout", body: "a=b"},
	{method: "POST", path: "/oauth/register", body: `{"redirect_uris":["https://agent.example/{client_id}"]}`},
	{method: "POST", path: "/register", body: `{"redirect_uris":["https://agent.example/{client_id}"]}`},
	{method: "GET", path: "/oauth/register/{client_id}", about: true},
	{method: "DELETE", path: "/oauth/register/{client_id}", about: true},

	// The pages of sign-in.
	{method: "GET", path: "/oauth/signin"},
	{method: "POST", path: "/oauth/signin", body: "username=no-{client_id}&password=nothing-at-all"},
	{method: "POST", path: "/oauth/signin/consent", body: "query=client_id%3D{client_id}%26redirect_uri%3D{callback}&user={sub}&scope=openid+apps&allow=1", about: true},
	{method: "GET", path: "/oauth/signin/email"},
	{method: "POST", path: "/oauth/signin/email", body: "address={client_id}%40example.com"},
	{method: "GET", path: "/oauth/signin/email/code"},
	{method: "POST", path: "/oauth/signin/email/code", body: "code=123456"},
	{method: "GET", path: "/oauth/signin/address"},
	{method: "POST", path: "/oauth/signin/address", body: "address={client_id}%40example.com"},
	{method: "GET", path: "/oauth/signin/address/code"},
	{method: "POST", path: "/oauth/signin/address/code", body: "code=123456"},
	{method: "GET", path: "/oauth/signin/reset"},
	{method: "POST", path: "/oauth/signin/reset", body: "address={client_id}%40example.com"},
	{method: "GET", path: "/oauth/signin/reset/code"},
	{method: "POST", path: "/oauth/signin/reset/code", body: "code=123456"},
	{method: "GET", path: "/oauth/signin/password"},
	{method: "POST", path: "/oauth/signin/password", body: "old=none-of-yours&new=correct-horse-battery"},
	{method: "GET", path: "/oauth/signin/password/changed"},
	{method: "GET", path: "/oauth/signin/qr"},
	{method: "GET", path: "/oauth/signin/qr.js"},
	{method: "GET", path: "/oauth/signin/qr/poll"},
	{method: "POST", path: "/oauth/signin/qr/collect", body: "a=b"},
	{method: "GET", path: "/oauth/signin/scan/{id}"},
	{method: "POST", path: "/oauth/signin/scan/{id}", body: "allow=1"},
	{method: "GET", path: "/oauth/signin/with/wx"},
	{method: "POST", path: "/oauth/signin/with/wx/link", body: "a=b"},
	{method: "GET", path: "/oauth/signin/with/wx/return", query: "code=x&state=y"},
	{method: "GET", path: "/oauth/device"},
	{method: "POST", path: "/oauth/device", body: "user_code=BCDF-GHJK"},
	{method: "GET", path: "/oauth/account"},
	{method: "GET", path: "/oauth/account/confirm"},
	{method: "POST", path: "/oauth/account/session", body: "session={session}", about: true},
	{method: "POST", path: "/oauth/account/everywhere", body: "a=b"},
	{method: "POST", path: "/oauth/account/access", body: "app={client_id}"},
	{method: "POST", path: "/oauth/account/login", body: "method=self"},
	{method: "GET", path: "/oauth/account/keys"},
	{method: "POST", path: "/oauth/account/keys", body: "name=x&what=all&days=1"},
	{method: "POST", path: "/oauth/account/keys/end", body: "key=none"},

	// The gateway.
	{method: "GET", path: "/api/v1/quota"},
	{method: "GET", path: "/api/v1/usage"},
	{method: "GET", path: "/api/v1/billing/plans"},
	{method: "ANY", path: "/api/v1/verify", query: "product=ai"},
	{method: "ANY", path: "/api/v1/verify/{path...}"},
	{method: "ANY", path: "/ai"},
	{method: "GET", path: "/api/v1/apps"},
	{method: "POST", path: "/api/v1/apps", body: `{"name":"New","domains":["new.example.com"]}`},
	{method: "GET", path: "/api/v1/apps/{client_id}", about: true},
	{method: "PATCH", path: "/api/v1/apps/{client_id}", body: `{"domains":["evil.example.com"]}`, about: true},
	{method: "DELETE", path: "/api/v1/apps/{client_id}", about: true},
	{method: "POST", path: "/api/v1/apps/{client_id}/secret", body: `{"overlap_seconds":60}`, about: true},
	{method: "POST", path: "/api/v1/billing/upgrade", body: `{"client_id":"{client_id}","tier":"white_label"}`, about: true},
	{method: "GET", path: "/api/v1/billing/orders"},
	{method: "GET", path: "/api/v1/billing/orders/{order_id}", about: true},
	{method: "DELETE", path: "/api/v1/billing/orders/{order_id}", about: true},
	{method: "GET", path: "/api/v1/billing/settlements", query: "client_id={client_id}", about: true},

	// The tools.
	{method: "GET", path: "/api/console/capabilities"},
	{method: "POST", path: "/api/console/capabilities/register", body: `{"member":"{client_id}","upstream_url":"http://127.0.0.1:1","tools_static":[{"name":"get","httpMethod":"get","path":"/x"}]}`},
	{method: "POST", path: "/api/console/capabilities/preview", body: `{"member":"{client_id}","upstream_url":"http://127.0.0.1:1","tools_static":[{"name":"get","httpMethod":"get","path":"/x"}]}`},
	{method: "GET", path: "/api/console/capabilities/{member}", about: true},
	{method: "DELETE", path: "/api/console/capabilities/{member}", about: true},
	{method: "POST", path: "/api/mcp", extra: "#list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	{method: "POST", path: "/api/mcp", extra: "#call", header: modern("{member}__get"), body: modernCall("{member}__get"), about: true},

	{method: "GET", path: "/.well-known/oauth-protected-resource/api/mcp/b/{bundle}"},
	{method: "POST", path: "/api/mcp/b/{bundle}", extra: "#list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, about: true},
	{method: "POST", path: "/api/mcp/b/{bundle}", extra: "#call", header: modern("{member}__get"), body: modernCall("{member}__get"), about: true},

	// The console.
	{method: "GET", path: "/api/console/apps"},
	{method: "POST", path: "/api/console/apps", body: `{"name":"New","domains":["new.example.com"]}`},
	{method: "POST", path: "/api/console/apps", extra: "#first-party", body: `{"name":"New","domains":["new.example.com"],"first_party":true}`},
	{method: "GET", path: "/api/console/apps/{client_id}", about: true},
	{method: "PATCH", path: "/api/console/apps/{client_id}", body: `{"domains":["evil.example.com"]}`, about: true},
	{method: "PATCH", path: "/api/console/apps/{client_id}", extra: "#owner", body: `{"owner":"{sub}","first_party":true}`, about: true},
	{method: "DELETE", path: "/api/console/apps/{client_id}", about: true},
	{method: "POST", path: "/api/console/apps/{client_id}/secret", body: `{"overlap_seconds":60}`, about: true},
	{method: "GET", path: "/api/console/orders"},
	{method: "GET", path: "/api/console/orders/{order_id}", about: true},
	{method: "DELETE", path: "/api/console/orders/{order_id}", about: true},
	{method: "POST", path: "/api/console/orders/{order_id}/approve", body: `{}`, about: true},
	{method: "POST", path: "/api/console/orders/{order_id}/reject", body: `{"reason":"no"}`, about: true},
	{method: "GET", path: "/api/console/users"},
	{method: "POST", path: "/api/console/users", body: `{"username":"x{client_id}","password":"correct-horse-battery"}`},
	{method: "GET", path: "/api/console/users/{sub}", about: true},
	{method: "PATCH", path: "/api/console/users/{sub}", body: `{"role":"developer"}`, about: true},
	{method: "GET", path: "/api/console/nodes"},
	{method: "GET", path: "/api/console/clients"},
	{method: "GET", path: "/api/console/audit"},
	{method: "GET", path: "/api/console/audit/1"},
	{method: "GET", path: "/api/console/audit/export"},
	{method: "GET", path: "/api/console/audit/chain"},
	{method: "POST", path: "/api/console/audit/chain", body: `{}`},
	{method: "GET", path: "/api/console/health"},
	{method: "GET", path: "/api/console/keys"},
	{method: "POST", path: "/api/console/keys/rotate", body: `{"alg":"none"}`},
	{method: "POST", path: "/api/console/keys/retire", body: `{"kid":"none"}`},
	{method: "GET", path: "/api/console/settings"},
	{method: "PATCH", path: "/api/console/settings", body: `{"name":"none","value":"1"}`},

	// The old endpoints.
	{method: "GET", path: "/connect", query: "act=check_sso&appid={client_id}", about: true},
	{method: "POST", path: "/connect", body: "act=query&appid={client_id}&appkey={secret}&type=self&social_uid=none", about: true},
	{method: "GET", path: "/check_token", query: "access_token=none&appid={client_id}&appkey={secret}", about: true},
	{method: "POST", path: "/check_token", body: "appid={client_id}&appkey={secret}", about: true},

	// The demo.
	{method: "GET", path: "/demo"},
	{method: "GET", path: "/demo/start"},
	{method: "GET", path: "/demo/callback"},
	{method: "GET", path: "/demo/result"},
}

// modern is the header of a call by MCP 2026-07-28, which says by its status whether there is
// such a tool.
func modern(tool string) map[string]string {
	return map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
}

func modernCall(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}
