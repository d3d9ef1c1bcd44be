package config

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/claim"
)

// keys is the table for what reads no values.
var keys = new(Config).keys()

// keys returns the table of all keys, which set the values of c. A key arrives with its feature.
func (c *Config) keys() []key {
	return slices.Concat(
		about("Store and address", c.storeKeys()),
		about("Sign-in elsewhere", c.connectorKeys()),
		about("Sign-in, sessions and second factors", c.signInKeys()),
		about("Accounts and mail", c.accountKeys()),
		about("Calls, limits and products", c.gatewayKeys()),
		about("Tools and agents", c.toolKeys()),
		about("Tokens and old clients", c.answerKeys()),
		about("Assertions of others", c.assertionKeys()),
		about("Records and where they are shipped", c.recordKeys()),
		about("This process, its log and its operators", c.processKeys()),
	)
}

// about says what keys are about.
func about(group string, keys []key) []key {
	for i := range keys {
		keys[i].group = group
	}
	return keys
}

// storeKeys are about the store and the address of the service.
func (c *Config) storeKeys() []key {
	return []key{
		{name: "config", kind: "file", help: "the configuration file, YAML", never: inFile, set: nothing},
		{name: "data", kind: "folder", fallback: "keystile-data", help: "the data folder", example: "/var/lib/keystile",
			set: text(&c.Data)},
		{name: "listen", kind: "host:port", fallback: "127.0.0.1:8080", help: "the address to listen on; port 0 is any " +
			"free one", example: "127.0.0.1:8080", set: address(&c.Listen)},
		{name: "listen_fast", kind: "true or false", fallback: "true", help: "whether plain requests of HTTP/1.1 are read " +
			"and answered in a way that takes less of the processor, and only the others by Go's net/http", example: "false",
			set: boolean(&c.ListenFast)},
		{name: "base_url", kind: "origin", protocol: "1", help: "the origin people and applications reach the service " +
			"at; without it, that of the listener", example: "https://id.example.com", set: origin(&c.BaseURL)},
		{name: "storage_url", kind: "address", help: "where the store is: bolt: for the file in the data folder, or " +
			"postgres://user@host/database for what several nodes share, with parameters schema, migrate, listen, " +
			"pool_max_conns and timeout, see go doc ./storage/postgres; leave the password to PGPASSWORD or ~/.pgpass; " +
			"without it, the data folder", example: "postgres://keystile@db.example.com/keystile?sslmode=verify-full",
			secret: true, set: hidden(&c.StorageURL)},
		{name: "token_log", kind: "true or false", help: "whether codes and refresh tokens are written to a log beside " +
			"the file in the data folder first, keystile.db.wal, with one flush instead of two; after a kill the next " +
			"start puts it into the file, and older versions refuse the file until then; without it, wherever the store " +
			"is that file", example: "false", set: maybe(decided(&c.TokenLog))},
		{name: "redis_url", kind: "address", help: "where several nodes count requests and failed sign-ins together: " +
			"redis://host:6379, or rediss:// for TLS; without it each node counts alone; while it is away each node keeps " +
			"its share of the limits", example: "redis://redis.example.com:6379", secret: true, set: hidden(&c.RedisURL)},
		{name: "node_name", kind: "text", help: "the name of this node beside others on the same store, for people; " +
			"without it, the machine's", example: "id-1", set: maybe(text(&c.NodeName))},
		{name: "master_key", kind: "32 bytes in base64", help: "the key that seals secrets in the store, or several, " +
			"separated by commas: the first seals, the others open what was sealed before, until keystile key rekey is " +
			"done; without it, those in master_key_file", never: inFile | inFlag, secret: true, set: c.setMasterKeys},
		{name: "master_key_file", kind: "file", help: "a file with the master key, readable by its owner only; of " +
			"several lines the first key seals, the others open; without it, master.key in the data folder",
			example: "/run/secrets/keystile.key", set: maybe(text(&c.MasterKeyFile))},
		{name: "trusted_proxies", kind: "list", help: "the proxies whose X-Forwarded-For is believed, and at " +
			"/api/v1/verify what call they ask about: addresses or networks, separated by commas",
			example: "10.0.0.0/8, 127.0.0.1", set: c.setProxies},
		{name: "demo", kind: "true or false", help: "whether there is the demo at /demo, and the application it signs in " +
			"to; without it, where only this machine reaches the service: base_url, or the listener's address, is " +
			"localhost or a loopback address", example: "false", set: c.setDemo},
	}
}

// signInKeys are about signing in and how long that lasts.
func (c *Config) signInKeys() []key {
	return []key{
		{name: "lifetimes.code", kind: "duration", fallback: "5m", protocol: "8", help: "how long an authorization code " +
			"is valid", example: "5m", set: duration(&c.CodeLifetime)},
		{name: "lifetimes.access", kind: "duration", fallback: "168h", protocol: "8", help: "how long an access token is " +
			"valid", example: "168h", set: duration(&c.AccessLifetime)},
		{name: "lifetimes.refresh", kind: "duration", fallback: "720h", protocol: "8",
			help: "how long a refresh token is valid", example: "720h", set: duration(&c.RefreshLifetime)},
		{name: "lifetimes.session_idle", kind: "duration", fallback: "168h", help: "how long a sign-in lasts without use",
			example: "168h", set: duration(&c.SessionIdle)},
		{name: "lifetimes.session_max", kind: "duration", fallback: "720h", help: "how long a sign-in lasts with use",
			example: "720h", set: duration(&c.SessionMax)},

		{name: "reuse_leeway.code", kind: "duration", fallback: "10s", help: "how long a second use of a code is only " +
			"refused; later it also ends the grant", example: "10s", set: duration(&c.CodeReuseLeeway)},
		{name: "reuse_leeway.refresh", kind: "duration", fallback: "10s", help: "how long a second use of a refresh " +
			"token is only refused; later it also ends the family", example: "10s", set: duration(&c.RefreshReuseLeeway)},

		{name: "agents.refresh_window", kind: "duration", fallback: "1m", example: "30s",
			help: "how long after its replacement a refresh token of an application that registered itself is answered with " +
				"the same successor, if that is still unused; later, it ends the family; 0: it is as for other applications",
			set: durationOrOff(&c.AgentsRefreshWindow)},

		{name: "login_lock.failures", kind: "number", fallback: "10", protocol: "8", help: "how many failed sign-ins " +
			"lock an address", example: "10", set: count(&c.LockFailures)},
		{name: "login_lock.window", kind: "duration", fallback: "5m", protocol: "8", help: "how long failed sign-ins are " +
			"counted together", example: "5m", set: duration(&c.LockWindow)},
		{name: "login_lock.duration", kind: "duration", fallback: "15m", protocol: "8",
			help: "how long a locked address stays locked", example: "15m", set: duration(&c.LockDuration)},

		{name: "signin.qr", kind: "true or false", fallback: "true", protocol: "1", help: "whether the sign-in page " +
			"offers to scan a code with a phone that is signed in", example: "false", set: boolean(&c.QR)},
		{name: "signup", kind: "name", fallback: "closed", protocol: "1", help: "which new people may make themselves " +
			"users, by a password, a code by email or any other provider: none (closed), those with a code of keystile user " +
			"invite (invitation), or all (open); a provider may have a signup of its own", example: "invitation",
			set: choice(&c.SignUp, signUps...)},
		{name: "mfa.default", kind: "name", fallback: "offered", help: "whether people sign in with a second factor: not " +
			"(off), if they set one up (offered), or always (required); users who have one are asked for it in any case",
			example: "required", set: choice(&c.MFA.Default, authn.MFAOff, authn.MFAOffered, authn.MFARequired)},
		{name: "mfa.admin", kind: "name", help: "the same of administrators; without it, mfa.default", example: "required",
			set: c.mfaOf(storage.RoleAdmin)},
		{name: "mfa.developer", kind: "name", help: "the same of developers; without it, mfa.default", example: "required",
			set: c.mfaOf(storage.RoleDeveloper)},
		{name: "mfa.auditor", kind: "name", help: "the same of auditors; without it, mfa.default", example: "required",
			set: c.mfaOf(storage.RoleAuditor)},
		{name: "mfa.grace", kind: "duration", fallback: "336h", example: "72h", help: "how long after the first sign-in " +
			"at which a second factor is required people may go on without; 0: not at all", set: durationOrOff(&c.MFA.Grace)},
	}
}

// accountKeys are about accounts and mail.
func (c *Config) accountKeys() []key {
	return []key{
		{name: "account.delete", kind: "name", fallback: "self", help: "who deletes the account of a user who wants " +
			"that: the user, at once (self), an operator, whom the user asks on a page (ask), or neither (off)",
			example: "ask", set: choice(&c.DeleteAccount, "self", "ask", "off")},
		{name: "account.contact", kind: "text", prose: true, help: "where users reach the operator, such as an email " +
			"address or an https URL; users who ask for their account to be deleted are told", example: "privacy@example.com",
			set: maybe(contact(&c.Contact))},
		{name: "profile.attributes", kind: "list", help: "attributes that users see and change on the page of their " +
			"profile; without it, none. A claim made of one says whatever its user says: it is for you to judge whether " +
			"applications may decide by it", example: "desk, pronouns",
			set: func(s string) error { c.ProfileAttributes = words(s); return claim.CheckAttributeNames(words(s)) }},
		{name: "mail.smtp.host", kind: "host", help: "the server that mails are handed to; without it, and with the " +
			"demo, they are written to the folder mail in the data folder, and without the demo there are none",
			example: "smtp.example.com", set: maybe(text(&c.Mail.Host))},
		{name: "mail.smtp.port", kind: "number", help: "its port; without it 587, with implicit TLS 465, with none 25",
			example: "587", set: maybe(port(&c.Mail.Port))},
		{name: "mail.smtp.tls", kind: "name", fallback: "starttls", help: "how the way there is encrypted: starttls " +
			"(demanded), implicit, or none", example: "implicit", set: choice(&c.Mail.TLS, "starttls", "implicit", "none")},
		{name: "mail.smtp.username", kind: "name", help: "the user name at the server; without it there is no " +
			"sign-in there", example: "keystile", set: maybe(text(&c.Mail.Username))},
		{name: "mail.smtp.password", kind: "text", help: "with which password", never: inFlag, secret: true,
			set: hidden(&c.Mail.Password)},
		{name: "mail.smtp.from", kind: "address", prose: true, help: "whom mails are from",
			example: "Example <id@example.com>", set: maybe(text(&c.Mail.From))},
		{name: "mail.smtp.timeout", kind: "duration", fallback: "30s", help: "how long handing over one mail may take",
			example: "30s", set: duration(&c.Mail.Timeout)},
	}
}

// gatewayKeys are about calls, their limits and their products.
func (c *Config) gatewayKeys() []key {
	return []key{
		{name: "limits.per_ip", kind: "number", fallback: "60", protocol: "8", help: "requests a minute of an address " +
			"that brings no valid access token; a /56 of IPv6 may do 4 times as much, a /48 16 times", example: "60",
			set: count(&c.PerAddress)},
		{name: "limits.shadow", kind: "list", help: "rates that are counted and reported, on the audit trail and in the " +
			"metrics, and refuse no request: address (limits.per_ip), application, or those of one tier (free, " +
			"white_label, enterprise); locks of sign-ins are not among them", example: "address, free", set: c.setShadow},
		{name: "limits.connections_per_ip", kind: "number", fallback: "256", help: "connections that one address (of " +
			"IPv6, one /64) may hold open; trusted_proxies may hold as many as there is room for", example: "256",
			set: count(&c.MaxConnections)},
		{name: "limits.stream_idle", kind: "duration", fallback: "1h", help: "how long a connection may be silent, a " +
			"stream's or a WebSocket's above all; it is closed then, or half as long again later", example: "1h",
			set: duration(&c.StreamIdle)},
		{name: "gateway.products", kind: "list of objects", protocol: "1", objects: true,
			help: "products and the services behind the gateway: name, and with an upstream (URL) also prefix, " +
				"strip_prefix, identity, identity_subject, identity_jti, timeout, pace and upload_rate (bytes a second, " +
				"8192), see examples/behind; short: name=URL or name, separated by commas",
			example: "ai=http://127.0.0.1:9000/v1, search", set: c.setProducts},
		{name: "gateway.free_repeats", kind: "number", fallback: "1", help: "repetitions of a charged call that are not " +
			"charged again, if they have its Idempotency-Key, are the same in all that the service sees and come within 24 " +
			"hours, 0 to 100; 0: keys are not looked at", example: "2", set: c.setFreeRepeats},
		{name: "gateway.stream_life", kind: "duration", fallback: "24h", help: "how long a call may go on, a WebSocket, " +
			"a stream of events or an upload above all; it ends before that with its token, and within 10 seconds of a " +
			"revocation", example: "8h", set: duration(&c.StreamLife)},
		{name: "billing.overage_fen", kind: "number", protocol: "8", help: "what a thousand calls beyond a quota cost, " +
			"in hundredths of a yuan; without it they are free", example: "500", set: maybe(count(&c.OverageFen))},
		{name: "cors.origins", kind: "list", help: "origins whose pages may call the console with the visitor's cookie",
			example: "https://console.example.com", set: origins(&c.Origins)},
	}
}

// toolKeys are about the bus, its clients and the upstreams of tools.
func (c *Config) toolKeys() []key {
	return []key{
		{name: "bus.origins", kind: "list", help: "origins whose pages may call the bus (/api/mcp) from a browser, with " +
			"a token of theirs, beside base_url; pages of others are refused, programs that are no browsers are not",
			example: "https://inspector.example.com", set: origins(&c.Bus.Origins)},
		{name: "bus.page_size", kind: "number", fallback: "1000", protocol: "4.9", help: "tools on a page of tools/list, " +
			"1 to 1000", example: "200", set: within(&c.Bus.PageSize, 1, mcpbus.MaxPageSize)},
		{name: "bus.max_name", kind: "number", fallback: "64", help: "characters of a tool's name in tools/list, 40 to " +
			"64, of the 64 that model APIs take: clients put their own in front, such as mcp__keystile__. Longer names end " +
			"in a hash, and the whole name still calls the tool", example: "48",
			set: within(&c.Bus.MaxName, mcpbus.MinName, mcpbus.MaxName)},
		{name: "bus.per_caller", kind: "number", fallback: "16", help: "calls of tools that one caller, a user of an " +
			"application or an application itself, may have under way on a node, 1 to 1000; a call beyond is answered that " +
			"it is to wait, and is not charged. An upstream takes 32 of all callers, so one caller leaves it half",
			example: "32", set: within(&c.Bus.PerCaller, 1, maxPerCaller)},
		{name: "bus.max_answer", kind: "size", fallback: "1MiB", help: "how much a tool's upstream may answer to a call, " +
			"64KiB to 16MiB, decompressed and as UTF-8; of what is larger the caller is told how much there is, and where, " +
			"if the upstream says so", example: "4MiB", set: c.setMaxAnswer},

		{name: "mcp.clients", kind: "name", help: "from where an application that is not registered may bring its " +
			"metadata document, whose URL is its client_id: from every host but those denied (open), from mcp.client_hosts " +
			"and those trusted with keystile client trust (listed), or from nowhere (off); without it, open where base_url " +
			"is of a loopback host, else listed", example: "listed",
			set: maybe(choice(&c.Clients.Documents, oauth.ClientsOpen, oauth.ClientsListed, oauth.ClientsOff))},
		{name: "mcp.client_hosts", kind: "list",
			help: "the hosts whose metadata documents are admitted where mcp.clients is listed; without it, those of " +
				"well-known clients: " + strings.Join(oauth.ClientHosts(), ", "),
			example: "claude.ai, agents.example.com", set: c.setClientHosts},
		{name: "mcp.allow_client_hosts", kind: "list", help: "private addresses that metadata documents may be read " +
			"from: networks, addresses or host:port", example: "10.1.0.0/16, agents.internal:8443",
			set: private(&c.Clients.AllowPrivate)},
		{name: "mcp.registration", kind: "name", fallback: "capped", help: "whether applications may register themselves " +
			"(RFC 7591): so many an hour and a day, for 24 hours unless a user consents (capped), or not at all (off)",
			example: "off", set: choice(&c.Clients.Registration, "capped", "off")},

		{name: "upstreams.allow_private", kind: "list", help: "private addresses that tools may be called at, and " +
			"webhooks of capabilities sent to: networks, addresses or host:port. Developers choose among them",
			example: "10.1.0.0/16, 10.2.0.7, vault.internal:8200", set: private(&c.PrivateUpstreams)},
		{name: "logout.allow_private", kind: "list", help: "private addresses that applications may be told at of the " +
			"end of sessions: networks, addresses or host:port. Only operators give an application such an address",
			example: "10.3.0.0/16, intranet.internal:443", set: private(&c.PrivateLogouts)},
		{name: "user_events.allow_private", kind: "list", help: "private addresses that user events may be sent to " +
			"(keystile webhook set): networks, addresses or host:port", example: "10.4.0.7:8443",
			set: private(&c.PrivateEvents)},
		{name: "registry.max_capabilities", kind: "number", fallback: "50", help: "how many capabilities one user may " +
			"have; administrators and the command line are not held to it", example: "50", set: count(&c.MaxCapabilities)},
		{name: "registry.max_tools", kind: "number", fallback: "10000", help: "how many tools of one user are on the " +
			"bus, an administrator's too; what goes beyond is refused or left out, the oldest registrations stay",
			example: "10000", set: count(&c.MaxTools)},
		{name: "openapi.resolve_refs", kind: "true or false", fallback: "false", protocol: "4.8",
			help:    "whether tools show what nested references of their document lead to, if a registration does not say",
			example: "true", set: boolean(&c.ResolveRefs)},
	}
}

// answerKeys are about what answers look like.
func (c *Config) answerKeys() []key {
	return []key{
		{name: "login_types", kind: "name", fallback: "protocol", protocol: "1", help: "what login_type is in token " +
			"answers and userinfo: a login type of the protocol (protocol), which calls every other method self, or the " +
			"method itself, such as feishu or wecom (extended)", example: "extended",
			set: choice(&c.LoginTypes, "protocol", "extended")},
		{name: "claims", kind: "list of objects", objects: true, prose: true, never: inFlag, help: "claims that " +
			"applications learn of users beside those of the protocol: claim, its name; from, which is attribute:NAME, " +
			"field:NAME (username, name, nickname, email, email_verified, location, gender, login_type, created_at), " +
			"groups:PATTERN or value:JSON; scope, which the token needs (openid); in, a list of id_token, userinfo and " +
			"introspection (all three). At most 32; an application may have rules of its own, which come after these",
			example: `[{claim: department, from: attribute:dept, scope: profile}]`, set: maybe(c.setClaims)},
		{name: "legacy.error_status", kind: "name", fallback: "always_ok", protocol: "4.10",
			help:    "the HTTP status of refusals at the old endpoints: always_ok (200) or mapped (400, 401, 403, 404)",
			example: "mapped", set: choice(&c.LegacyStatus, "always_ok", "mapped")},

		{name: "id_token_algs", kind: "list", fallback: "HS256", protocol: "2.5", help: "the id_token algorithms that " +
			"discovery lists: HS256, ES256, RS256, EdDSA", example: "HS256, ES256", set: c.setAlgorithms},
		{name: "signing_alg", kind: "name", fallback: "ES256", protocol: "2.1", help: "what signs access tokens: ES256, " +
			"EdDSA or RS256", example: "ES256", set: choice(&c.SigningAlg, "ES256", "EdDSA", "RS256")},
	}
}
