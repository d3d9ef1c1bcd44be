// Package storage keeps what Keystile knows: applications, users, sessions, keys and the like.
// [Open] makes the [Store] that all other packages use over a [driver.Backend].
//
//	store, err := storage.Open(ctx, backend, key)
//	app, err := store.App(ctx, clientID)
//
// Packages that use storage declare the few methods they need and are handed a *[Store]. Its records and methods are
// those of its subjects, whose types have names here too:
//
//	people    users, their logins, consents and invitations; [User], [Login], [Consent]
//	groups    groups of users and their members; groups.Group, groups.Membership
//	authn     sessions, begun flows, second factors and API keys; [Session], [Ticket], [Factors]
//	apps      applications, orders, clients that registered themselves; [App], [Order]
//	tools     capabilities, their tools, access to them and deliveries; [Capability], [Delivery]
//	service   settings, keys, emails that wait, nodes; [Setting], [SigningKey], [Mail]
//
// Tokens, revocations, usage and audit records are the Store's own, and so are acts that write documents of two
// subjects in one step. Secrets are sealed with AES-256-GCM.
//
// An error of the Backend that is none of those that package driver names is returned as [ErrUnavailable]. A record
// that has changed since it was read is [ErrConflict]: see [RetryOnConflict].
//
// Adapter authors implement [driver.Backend]: 15 methods and Close, each one atomic step. No
// transaction crosses the line. Package driver has the vocabulary and where to begin.
//
// # Choices
//
// One package of documents (internal/document) seals, indexes and versions every record alike. The choices that were
// made there, and in each subject, are written at the files that they explain.
package storage
