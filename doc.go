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
//	  redis    rates and failures that several processes count together
//	  limittest    the contract of what counts them
//	oauth      the provider: /oauth/*, /.well-known/*; Tokens verify and end access tokens
//	  signin   sessions, one-time codes, consent, the account page: /oauth/signin, /oauth/account
//	    users      users of the Store, and what a host implements for its own
//	    passwords, lockout  argon2id behind a queue; failed attempts by address
//	    connector  people of other providers: wx, qq, alipay, douyin, feishu, wecom, dingtalk
//	    mailer     mails over SMTP, or into a folder
//	gateway    bearer tokens, quota, usage, audit, reverse proxy; /api/v1/*
//	  limits   exact rate limits
//	  billing  plans, orders, settlement: every rule about money
//	  remote   verifies access tokens in another process
//	  stream   ships the audit trail and usage elsewhere: standard output, s3, a Target of the host's own
//	  clientip the client's address behind reverse proxies
//	  console  what people who are signed in administer: /api/console/apps, /orders, /users
//	registry   OpenAPI documents become tools; /api/console/capabilities
//	mcpbus     the tools by MCP, whole or by bundles; /api/mcp
//	legacy     the old endpoints: /connect.php, /check_token.php
//	cmd/keystile  the binary: flags, configuration and commands around New
//
// A room is a handler made by New(ctx, Config), a plain struct whose zero values are the protocol's
// defaults. Mount hangs its paths into a mux, Patterns names them for other
// routers, Close ends what it runs. Two things are made before all rooms, because all take them:
// oauth.OpenTokens and gateway.OpenTrail. Nothing is set later, so a room that exists is complete.
//
// Rooms import storage and internal packages and never each other; where one needs another's
// work it declares a small interface, and whoever assembles them hands it over: keystile.go, or
// your own main. A test in internal/test/archtest keeps that law. Each room describes its endpoints in
// openapi.json beside its route table. Comments and tests cite what the service speaks as protocol
// 4.2, and what was chosen where that is open as decision 12: internal/protocol has both.
//
// # Where to begin
//
// Operators have pages at /console/ (package gateway/console), and the same for programs at /api/console/.
//
// What each token opens, how long and with whose consent is a table in package oauth; who may
// do what at every endpoint is one in cmd/keystile/command/testdata/authority.txt, which a test
// measures. All of it with tools is examples/agent; a user table and ways to sign in of your own
// are examples/embed and examples/signin; services behind another proxy are examples/behind.
// To write a storage adapter: storage/driver, then storage/memory and examples/store.
package keystile
