// Package keystile is the whole service in one http.Handler, and the map of its packages.
//
// Keystile = key + turnstile. One key, one token, one quota ledger and one audit trail
// for an OAuth 2.1 / OpenID Connect provider, a metered API gateway, a registrar that
// turns OpenAPI documents into tools, an MCP tool bus that serves them, and the old
// aggregated-login endpoints.
//
// New wires all of it with the protocol's defaults. A host that wants some of it only, or
// parts of its own, makes the packages below one by one: both ways are examples here. To run
// the binary: go run ./cmd/keystile.
//
// # The rooms
//
//	storage    the records, and the Store that types and seals them
//	  driver   what an adapter implements: Backend, its records and errors
//	  memory   a Backend under one lock; read it before writing an adapter
//	  bolt     the default Backend: one file
//	  postgres a Backend that several processes share
//	  transfer copies a whole store to another adapter
//	  storagetest  the contract every Backend passes
//	  nodes    the processes that serve from one store, and what one of them does for all
//	  counters     rates, failures and events; in one process, or by redis for several; countertest is the contract
//	  people, apps, tools, service, authn  the records and the calls of the Store, by subject
//	  access, apikey, client, event, toolplan, state, secret  what those records are made of
//	oauth      the provider: /oauth/*, /.well-known/*; Tokens verify and end access tokens
//	  signin   sessions, one-time codes, consent, the account page: /oauth/signin, /oauth/account
//	    users      users of the Store, and what a host implements for its own
//	    passwords  argon2id behind a queue
//	    connector  users of other providers: wx, qq, alipay, douyin, feishu, wecom, dingtalk
//	    mailer     mails over SMTP, or into a folder
//	gateway    bearer tokens, quota, usage, audit, reverse proxy; /api/v1/*
//	  billing  plans, orders, settlement: every rule about money
//	  remote   verifies access tokens in another process, and protects an MCP endpoint of the host's own
//	  stream   ships the audit trail and usage elsewhere: standard output, s3, a Target of the host's own
//	  clientip the client's address behind reverse proxies
//	  console  what users who are signed in administer, as pages and as an API: /console/, /api/console/*
//	registry   OpenAPI documents become tools: /api/console/capabilities; lint advises on a document
//	mcpbus     the tools by MCP, whole or by bundles; /api/mcp
//	legacy     the old endpoints: /connect.php, /check_token.php
//	cmd/keystile  the binary: flags, configuration and commands around New
//
// A room is a handler made by New(ctx, Config), a plain struct whose zero values are the protocol's
// defaults. Mount hangs its paths into a mux, Patterns names them for other
// routers, Close ends what it runs. Two things are made before all rooms, because all take them:
// oauth.OpenTokens and gateway.OpenTrail. Nothing is set later, so a room that exists is complete.
//
// Rooms import storage and internal packages and never each other; where one needs another's work it
// declares a small interface, and the code that assembles them hands it over: assemble.go, or your own
// main. A test in internal/test/archtest keeps that law. Each room describes its endpoints in
// openapi.json beside its route table. Comments and tests cite the protocol of the service as protocol
// 4.2, and choices where that is open as decision 12: internal/protocol has both.
//
// # Where to begin
//
// Operators have pages at /console/ (package gateway/console), the same for programs at /api/console/, and
// cmd/keystile/README.md as their reference, with the configuration.
//
// Guides, each a program that runs and a README of one screen; examples/README.md is the index:
//
//	examples/embed        a Go program with users of its own, and Keystile's sign-in page or one of its own
//	examples/signin       ways to sign in of your own; other providers
//	examples/behind       services behind one token, in the process, as a proxy or asked by another proxy
//	examples/agent        an API becomes tools of agents
//	examples/selfservice  owners and their applications, orders and settlements; the service's own API as tools
//	examples/moving       from connect.php to OpenID Connect, with the same user ids
//	examples/cluster      nodes on PostgreSQL and Redis behind a balancer
//	examples/store        a storage adapter from the first line; then storage/driver and storage/memory
//	examples/sqlite       the whole program on an adapter, in a module of its own
//
// A table in package oauth says what each token opens, for how long and with whose consent; one in
// cmd/keystile/command/testdata/authority.txt, which a test measures, says who may do what at every
// endpoint. The threat model, internal/protocol/threats.md, says who is trusted with what, what a leaked
// secret opens, and what holds when something fails.
//
// # Stability
//
// Of a frozen package nothing changes any more: an adapter goes on fulfilling its contract as it is, and what
// is new comes as an interface that it may leave out. With a stable package, what compiles goes on
// compiling, but for values of structs without names of their fields; a new major version says
// otherwise, with a way to move. An interface named Store, or SomethingStore, that a package declares of
// what it asks of *storage.Store may gain methods that *storage.Store has: hosts pass the store, and replace
// what is below it, a driver.Backend. An experimental package may change with any version, which its
// notes say. Which of these a package is:
//
//	frozen        storage/driver
//	stable        keystile
//	              oauth oauth/signin oauth/signin/users oauth/signin/passwords
//	              oauth/signin/mailer oauth/signin/connector oauth/signin/connector/oidc
//	              gateway gateway/billing gateway/usage gateway/remote gateway/clientip
//	              registry registry/lint registry/openapi registry/pins mcpbus legacy legacy/migration
//	              storage storage/memory storage/bolt storage/postgres storage/transfer
//	              storage/counters storage/counters/redis storage/counters/countertest
//	              storage/storagetest storage/nodes
//	              storage/access storage/apikey storage/authn storage/client storage/event
//	              storage/people storage/apps storage/tools storage/service storage/secret storage/state
//	              storage/toolplan storage/oteltrace storage/groups storage/claim storage/lasthop storage/trust
//	              cmd/keystile/command
//	experimental  gateway/console gateway/stream gateway/stream/s3
//	              oauth/signin/connector/fake storage/storagetest/planted storage/counters/countertest/planted
//
// A check of every change (.ci/tools/api) compares the sources with what the last release declared.
//
// # Upgrades
//
// The data of every release opens in every later one. One version back reads what a version has written: nodes
// are replaced one after another, and an upgrade is taken back by starting the version before. A record that it
// would have to obey and does not know, such as the first second factor of a user, is a feature
// (storage.Feature): a store has it once it is used, and the version before then refuses the store and says
// why. Tables of a database are taken a step further by the first node that starts, or by keystile storage
// migrate; such a step leaves what the version before needs. CHANGELOG says for each version what an upgrade
// changes. The tests open data that each release has left (internal/test/released), and have two versions take
// turns on one store (internal/test/campaigns/upgrade).
package keystile
