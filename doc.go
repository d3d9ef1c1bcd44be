// Package keystile holds no code: it is the map of the house.
//
// Keystile = key + turnstile. One key, one token, one quota ledger and one audit trail
// for an OAuth 2.1 / OpenID Connect provider, a metered API gateway, a registrar that
// turns OpenAPI documents into tools, an MCP tool bus that serves them, and the old
// aggregated-login endpoints.
//
// # The rooms
//
//	storage    the records, and the Store that types and seals them
//	  driver   what an adapter implements: Backend, its records and errors
//	  memory   a Backend under one lock; read it before writing an adapter
//	  bolt     the default Backend: one file
//	  storagetest  the contract every Backend passes
//	oauth      the front door: /oauth/*, /.well-known/*
//	  signin   who is this person: pages, cookie, lockout, codes, consent, account
//	    connector  people of other providers: wx, qq, alipay, douyin
//	    mailer     mails over SMTP, or into a folder
//	gateway    the watch: bearer, rate, quota, usage, applications, billing, audit, proxy; /api/v1/*
//	  console  what people who are signed in administer: /api/console/apps, /orders, /users
//	registry   the scribe: OpenAPI documents become tools; /api/console/capabilities
//	mcpbus     the bus: the tools by MCP, whole or by bundles; /api/mcp
//	legacy     the old doors: /connect.php, /check_token.php
//	cmd/keystile  the binary, where the rooms meet
//
// Each room is an http.Handler made by New(Config): a plain struct whose zero values are
// the specification's defaults. Rooms import storage and internal packages and never each
// other; where one needs another's work it declares a small interface, and whoever
// assembles the house hands it over (cmd/keystile/command/assemble.go, or your own main). A test
// in internal/test/archtest keeps that law. Each describes its endpoints in openapi.json beside its
// route table; internal/apidoc makes one document of them.
//
// Comments cite the specification this service follows as (spec 4.2); tests also name the
// numbered decisions on what it leaves open.
//
// # Where to begin
//
// What each token opens, how long and with whose consent is a table in package oauth; who may
// do what at every endpoint is one in cmd/keystile/command/testdata/authority.txt, which a test
// measures.
//
// To run it: go run ./cmd/keystile. To embed the provider: the example of package oauth;
// to guard services, that of package gateway; all of it with tools: examples/agent; with
// users and ways to sign in of your own: examples/signin. To write a storage adapter:
// storage/driver, then storage/memory and examples/store.
package keystile
