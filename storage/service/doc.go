// Package service keeps the records by which a service runs: settings, signing and HMAC keys, the
// checkpoint and the index of the audit trail, emails that wait, nodes and their tasks, how far usage and
// audit records were shipped, rankings, and calls under an Idempotency-Key.
//
// Programs use its records and methods by package storage, which names them as its own:
//
//	value, err := store.Setting(ctx, storage.SettingForcePKCE)
//
// Errors are those of package storage.
//
// # Choices
//
// A setting has a last writer who wins; everything else is compared with the version that was read. Keys are drawn at
// their first use, by the one process that is first, and stay.
package service
