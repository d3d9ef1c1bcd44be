// # Configuration
//
// Each key is written so, or nested, in the file; lifetimes.code is KEYSTILE_LIFETIMES_CODE in the
// environment and --lifetimes-code on the command line. A section is one of
// internal/protocol/protocol.md. keystile config --reference prints this list, with --json for
// programs, and keystile config what is in effect and where each value comes from.
//
//   - config (file): the configuration file, YAML (flag and environment only)
//   - data (folder, default keystile-data): the data folder
//   - listen (host:port, default 127.0.0.1:8080): the address to listen on; port 0 is any free one
//   - base_url (origin, protocol 1): the origin people and applications reach the service at; without
//     it, that of the listener
//   - storage_url (address): where the store is: bolt: for the file in the data folder, or
//     postgres://user@host/database for what several nodes share, with parameters schema, migrate,
//     listen, pool_max_conns and timeout, see go doc ./storage/postgres; leave the password to
//     PGPASSWORD or ~/.pgpass; without it, the data folder
//   - redis_url (address): where several nodes count requests and failed sign-ins together:
//     redis://host:6379, or rediss:// for TLS; without it each node counts alone; while it is away
//     each node keeps its share of the limits
//   - node_name (text): the name of this node beside others on the same store, for people; without it,
//     the machine's
//   - master_key (32 bytes in base64): the key that seals secrets in the store, or several, separated
//     by commas: the first seals, the others open what was sealed before, until keystile key rekey is
//     done; without it, those in master_key_file (environment only)
//   - master_key_file (file): a file with the master key, readable by its owner only; of several lines
//     the first key seals, the others open; without it, master.key in the data folder
//   - trusted_proxies (list): the proxies whose X-Forwarded-For is believed, and at /api/v1/verify
//     what call they ask about: addresses or networks, separated by commas
//   - demo (true or false): whether there is the demo at /demo, and the application it signs in to;
//     without it, where only this machine reaches the service: base_url, or the listener's address, is
//     localhost or a loopback address
//   - connectors.wx.id (text, protocol 1): the id that WeChat gave the service at open.weixin.qq.com;
//     with it, people may sign in there
//   - connectors.wx.secret (text, protocol 1): the secret beside that id
//   - connectors.wx.signup (name): whom WeChat makes a user of: nobody (closed), who brings the code
//     of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.qq.id (text, protocol 1): the id that QQ gave the service at connect.qq.com; with it,
//     people may sign in there
//   - connectors.qq.secret (text, protocol 1): the secret beside that id
//   - connectors.qq.signup (name): whom QQ makes a user of: nobody (closed), who brings the code of an
//     invitation (invitation), or anybody (open); without it, signup
//   - connectors.douyin.id (text, protocol 1): the id that Douyin gave the service at
//     developer.open-douyin.com; with it, people may sign in there
//   - connectors.douyin.secret (text, protocol 1): the secret beside that id
//   - connectors.douyin.signup (name): whom Douyin makes a user of: nobody (closed), who brings the
//     code of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.alipay.id (text, protocol 1): the id that Alipay gave the service at open.alipay.com;
//     with it, people may sign in there
//   - connectors.alipay.private_key (text, protocol 1): the RSA key that signs what Alipay is asked:
//     PKCS#8 or PKCS#1, as PEM or bare base64
//   - connectors.alipay.public_key (text, protocol 1): Alipay's own public key, which its answers are
//     checked by
//   - connectors.alipay.signup (name): whom Alipay makes a user of: nobody (closed), who brings the
//     code of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.feishu.id (text): the App ID that Feishu gave the service at open.feishu.cn; with it,
//     people may sign in there
//   - connectors.feishu.secret (text): the App Secret beside that id
//   - connectors.feishu.lark (true or false, default false): whether the id is one of Lark, which is
//     Feishu outside China
//   - connectors.feishu.signup (name): whom Feishu makes a user of: nobody (closed), who brings the
//     code of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.wecom.corp_id (text): the id of the corporation at work.weixin.qq.com; with it, its
//     members may sign in there
//   - connectors.wecom.agent_id (text): the AgentId of the corporation's application with web login
//   - connectors.wecom.secret (text): that application's Secret
//   - connectors.wecom.signup (name): whom WeCom makes a user of: nobody (closed), who brings the code
//     of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.dingtalk.id (text): the Client ID that DingTalk gave the service at
//     open-dev.dingtalk.com; with it, people may sign in there
//   - connectors.dingtalk.secret (text): the Client Secret beside that id
//   - connectors.dingtalk.signup (name): whom DingTalk makes a user of: nobody (closed), who brings
//     the code of an invitation (invitation), or anybody (open); without it, signup
//   - connectors.oidc (list of objects): other providers that people may sign in with, by OpenID
//     Connect: preset (oidc, google, keycloak, entra or github), id and secret; issuer (oidc,
//     keycloak) or tenant (entra); name, label, scopes, domains, signup, trust_email (an address that
//     it has verified is confirmed here; without it none is) and allow_private, see Let people sign in
//     as they know it
//   - fake_providers (true or false, default false): whether WeChat, QQ, Alipay, Douyin, Feishu,
//     WeCom, DingTalk, an issuer of OpenID Connect and GitHub are played by the service itself, for a
//     trial: anybody signs in as anybody and becomes a user, whatever signup says, so it is for this
//     machine alone
//   - lifetimes.code (duration, default 5m, protocol 8): how long an authorization code is valid
//   - lifetimes.access (duration, default 168h, protocol 8): how long an access token is valid
//   - lifetimes.refresh (duration, default 720h, protocol 8): how long a refresh token is valid
//   - lifetimes.session_idle (duration, default 168h): how long a sign-in lasts without use
//   - lifetimes.session_max (duration, default 720h): how long a sign-in lasts with use
//   - reuse_leeway.code (duration, default 10s): how long a second use of a code is only refused;
//     later it also ends the grant
//   - reuse_leeway.refresh (duration, default 10s): how long a second use of a refresh token is only
//     refused; later it also ends the family
//   - agents.refresh_window (duration, default 1m): how long after its replacement a refresh token of
//     an application that registered itself is answered with the same successor, if nobody has used
//     that; later, it ends the family; 0: it is as for other applications
//   - login_lock.failures (number, default 10, protocol 8): how many failed sign-ins lock an address
//   - login_lock.window (duration, default 5m, protocol 8): how long failed sign-ins are counted
//     together
//   - login_lock.duration (duration, default 15m, protocol 8): how long a locked address stays locked
//   - signin.qr (true or false, default true, protocol 1): whether the sign-in page offers to scan a
//     code with a phone that is signed in
//   - signup (name, default closed, protocol 1): who may become a user by themselves, by a password, a
//     code by email or any other provider: nobody (closed), who brings the code of keystile user
//     invite (invitation), or anybody (open); a provider may have a signup of its own
//   - mfa.default (name, default offered): whether people sign in with a second factor: not (off), if
//     they set one up (offered), or always (required); who has one is asked for it in any case
//   - mfa.admin (name): the same of administrators; without it, mfa.default
//   - mfa.developer (name): the same of developers; without it, mfa.default
//   - mfa.auditor (name): the same of auditors; without it, mfa.default
//   - mfa.grace (duration, default 336h): how long after the first sign-in at which a second factor is
//     required people may go on without; 0: not at all
//   - account.delete (name, default self): who deletes the account of a user who wants that: the user,
//     at once (self), an operator, whom the user asks on a page (ask), or nobody (off)
//   - account.contact (text): where users reach the operator, such as an email address or an https
//     URL; users who ask for their account to be deleted are told
//   - mail.smtp.host (host): the server that mails are handed to; without it, and with the demo, they
//     are written to the folder mail in the data folder, and without the demo there are none
//   - mail.smtp.port (number): its port; without it 587, with implicit TLS 465, with none 25
//   - mail.smtp.tls (name, default starttls): how the way there is encrypted: starttls (demanded),
//     implicit, or none
//   - mail.smtp.username (name): who signs in there; without it nobody does
//   - mail.smtp.password (text): with which password
//   - mail.smtp.from (address): whom mails are from
//   - mail.smtp.timeout (duration, default 30s): how long handing over one mail may take
//   - limits.per_ip (number, default 60, protocol 8): requests a minute of an address that brings no
//     valid access token; a /56 of IPv6 may do 4 times as much, a /48 16 times
//   - limits.shadow (list): rates that are counted and reported, on the audit trail and in the
//     metrics, and refuse nobody: address (limits.per_ip), application, or those of one tier (free,
//     white_label, enterprise); locks of sign-ins are not among them
//   - limits.connections_per_ip (number, default 256): connections that one address (of IPv6, one /64)
//     may hold open; trusted_proxies may hold as many as there is room for
//   - limits.stream_idle (duration, default 1h): how long a connection may be silent, a stream's or a
//     WebSocket's above all; it is closed then, or half as long again later
//   - gateway.products (list of objects, protocol 1): products and the services behind the gateway:
//     name, and with an upstream (URL) also prefix, strip_prefix, identity, timeout, pace and
//     upload_rate (bytes a second, 8192), see examples/behind; short: name=URL or name, separated by
//     commas
//   - gateway.free_repeats (number, default 1): repetitions of a charged call that are not charged
//     again, if they have its Idempotency-Key, are the same in all that the service sees and come
//     within 24 hours, 0 to 100; 0: keys are not looked at
//   - gateway.stream_life (duration, default 24h): how long a call may go on, a WebSocket, a stream of
//     events or an upload above all; it ends before that with its token, and within 10 seconds of a
//     revocation
//   - billing.overage_fen (number, protocol 8): what a thousand calls beyond a quota cost, in
//     hundredths of a yuan; without it they are free
//   - cors.origins (list): origins whose pages may call the console with the visitor's cookie
//   - bus.origins (list): origins whose pages may call the bus (/api/mcp) from a browser, with a token
//     of theirs, beside base_url; pages of others are refused, programs that are no browsers are not
//   - bus.page_size (number, default 1000, protocol 4.9): tools on a page of tools/list, 1 to 1000
//   - bus.max_name (number, default 64): characters of a tool's name in tools/list, 40 to 64, of the
//     64 that model APIs take: clients put their own in front, such as mcp__keystile__. Longer names
//     end in a hash, and the whole name still calls the tool
//   - bus.per_caller (number, default 16): calls of tools that one caller, a user of an application or
//     an application itself, may have under way on a node, 1 to 1000; a call beyond is answered that
//     it is to wait, and is not charged. An upstream takes 32 of all callers, so one caller leaves it
//     half
//   - bus.max_answer (size, default 1MiB): how much a tool's upstream may answer to a call, 64KiB to
//     16MiB, decompressed and as UTF-8; of what is larger the caller is told how much there is, and
//     where, if the upstream says so
//   - mcp.clients (name): from where an application that nobody registered may bring its metadata
//     document, whose URL is its client_id: from every host but those denied (open), from
//     mcp.client_hosts and those trusted with keystile client trust (listed), or from nowhere (off);
//     without it, open where base_url is of a loopback host, else listed
//   - mcp.client_hosts (list): the hosts whose metadata documents are admitted where mcp.clients is
//     listed; without it, those of well-known clients: claude.ai, chatgpt.com, vscode.dev, zed.dev,
//     cursor.com, opencode.ai, goose-docs.ai, insiders.vscode.dev, github.com
//   - mcp.allow_client_hosts (list): private addresses that metadata documents may be read from:
//     networks, addresses or host:port
//   - mcp.registration (name, default capped): whether applications may register themselves (RFC
//     7591): so many an hour and a day, for 24 hours unless a user consents (capped), or not at all
//     (off)
//   - upstreams.allow_private (list): private addresses that tools may be called at, and webhooks of
//     capabilities sent to: networks, addresses or host:port. Developers choose among them
//   - logout.allow_private (list): private addresses that applications may be told at of the end of
//     sessions: networks, addresses or host:port. Only operators give an application such an address
//   - user_events.allow_private (list): private addresses that user events may be sent to (keystile
//     webhook set): networks, addresses or host:port
//   - registry.max_capabilities (number, default 50): how many capabilities one user may have;
//     administrators and the command line are not held to it
//   - registry.max_tools (number, default 10000): how many tools of one user are on the bus, an
//     administrator's too; what goes beyond is refused or left out, the oldest registrations stay
//   - openapi.resolve_refs (true or false, default false, protocol 4.8): whether tools show what
//     nested references of their document lead to, if a registration does not say
//   - login_types (name, default protocol, protocol 1): what login_type is in token answers and
//     userinfo: a login type of the protocol (protocol), which calls every other method self, or the
//     method itself, such as feishu or wecom (extended)
//   - legacy.error_status (name, default always_ok, protocol 4.10): the HTTP status of refusals at the
//     old endpoints: always_ok (200) or mapped (400, 401, 403, 404)
//   - id_token_algs (list, default HS256, protocol 2.5): the id_token algorithms that discovery lists:
//     HS256, ES256, RS256, EdDSA
//   - signing_alg (name, default ES256, protocol 2.1): what signs access tokens: ES256, EdDSA or RS256
//   - storage.stale_after (duration, default 10s): where several processes share the store: for how
//     long this one may not have read what the others revoke and change; after that it answers access
//     tokens with 503, until it has; at least 2s
//   - audit.keep (duration, default 400d): how long the audit trail is kept, in days (d) or as other
//     durations are, at least 1d; 0: for ever. Older records are removed within the hour, and a sealed
//     checkpoint stands for them
//   - audit.max_size (size, default 2GiB): how much the records of the audit trail may be together, in
//     MiB or GiB, at least 16MiB; 0: any size. Beyond it the oldest are removed until a tenth of it is
//     free
//   - streams.audit (name, default off): where to audit records are shipped as JSON lines, beside the
//     store: nowhere (off), standard output (stdout) or a store of objects (s3)
//   - streams.usage (name, default off): the same of usage, a row for each account, product, tool and
//     hour; the same at all nodes
//   - streams.batch_age (duration, default 1m): how long an audit record may wait for others until
//     they are an object, up to 1h; standard output does not wait
//   - streams.batch_size (size, default 4MiB): how much of them is one at once, before it is
//     compressed, 1MiB to 64MiB
//   - streams.s3.endpoint (origin): the store of objects; without it, that of Amazon in the region. It
//     may be in a private network
//   - streams.s3.region (name, default us-east-1): its region
//   - streams.s3.bucket (name): the bucket
//   - streams.s3.prefix (name): what the names of objects begin with; without it, with audit/ and
//     usage/
//   - streams.s3.path_style (true or false, default false): whether the bucket is in the path
//     (https://endpoint/bucket) and not in the host, as MinIO has it
//   - streams.s3.access_key (text): the id of the key, which needs the right to put objects
//     (s3:PutObject) and no other
//   - streams.s3.secret_key (text): the key
//   - streams.s3.session_token (text): what temporary keys come with; they are read once, at the start
//   - streams.s3.encryption (name): how the store encrypts objects: AES256 or aws:kms; without it, as
//     the bucket says
//   - streams.s3.kms_key (name): with which key, of aws:kms; without it, that of the bucket
//   - drain (duration): how long the service goes on after a signal to stop while /healthz/ready
//     already answers 503 and answers close their connections, so that a balancer sends it nobody any
//     more: longer than the balancer takes to ask again; 0: it stops at once; without it, 1s where
//     storage_url is the address of a database, which several nodes can share, and else 0
//   - log.level (name, default info): what is logged: debug, info, warn or error, and what is worse
//   - log.format (name, default text): how it is logged: text or json
//   - log.requests (true or false, default true): whether each request gets a line in the log (method,
//     route, status, time and address; never its query); of requests by strangers 60 of a kind in a
//     minute, and how many more there were
//   - otel.endpoint (URL): the collector that traces are sent to, by OTLP over HTTP with protobuf,
//     without /v1/traces; without it nothing is traced
//   - otel.headers (list): headers of each request to the collector, as name=value with commas
//     between, such as a key
//   - otel.sample (number, default 0.1): the share of requests that are traced, 0 to 1, whatever their
//     traceparent asks for
//   - otel.follow (true or false, default false): whether the sampled flag of traceparent decides in
//     place of otel.sample for what comes from trusted_proxies; only for proxies that write
//     traceparent themselves, because one that hands on its clients' lets them decide
//   - otel.service_name (text, default keystile): what the service is called in traces
//   - admin.listen (host:port): an address for operators alone: /metrics for Prometheus, /debug/pprof,
//     /healthz/live and /healthz/ready; without it there is none
//   - admin.hosts (list): names and addresses that requests to the admin listener may ask for, beside
//     localhost and its own address; others are refused, which keeps web pages away from it
package command
