// Package stream ships the audit trail and usage elsewhere, as lines of JSON: to a store of objects (package
// gateway/stream/s3), to standard output (Writer), or to a Target of the host's own, such as one for Kafka.
//
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store, Stream: stream.Config{Target: target}})
//	g, err := gateway.New(ctx, gateway.Config{Store: store, UsageStream: stream.Config{Target: target}, ...})
//
// Only the Config of a process turns it on: no request does.
//
// # What a consumer can rely on
//
// Lines of a stream come in order and at least once. A repeated line has the same id, so a consumer that keeps
// the ids it has seen drops it. Nothing is left out silently: a line stands for what could not be shipped.
//
// An audit record is the line of an export (keystile audit export) after three fields: stream, which is
// "audit", its seq, and its id, made of the seq and the beginning of its hash:
//
//	{"stream":"audit","seq":42,"id":"42-9f86d081884c7d65","chain":"...","n":7,...,"hash":"9f86d081..."}
//
// Seqs follow each other without a gap, so a missing line shows. "{" and the rest after the id is the record to
// the letter, and the hash it ends in is that of the chain (package internal/audit): a consumer with all lines
// proves that none was changed, without asking the service. A line
// {"stream":"audit.gap","id":...,"first":...,"last":...} stands for records that were removed before they were
// shipped. Bytes in the store that are no record are in base64 in a field damaged.
//
// A row of usage says how often an account called a product or a tool in an hour of UTC, in all:
//
//	{"stream":"usage","id":...,"hour":"2026-03-01T17:00:00Z","account":"app1","client_id":"app1",
//	 "by":"product","name":"ai","calls":12,"errors":1}
//
// Sums are whole and never shrink. So of several lines of an hour, account, by and name the one with the most
// calls is right, in whatever order they come. An account is an application; for one that registered itself,
// and for API keys, it is the application, a blank and the user. Rows by user and by agent are not shipped. An hour
// ends in a line of the stream usage.hour, with the calls of the whole service and those of the rows by product: where
// the second number is smaller, some process counted without shipping. Hours without a call have no line.
//
// No secret is on the trail, and so none is in a stream. Personal data is: subs, addresses. Erasing a user in
// the store removes nothing that was shipped, so the consumer must not keep the lines longer than it may.
//
// # Choices
//
// A follower reads the store and keeps its position there, one for each stream and target: so nothing waits for
// a target, and a process that is killed loses nothing that the store has. The other reasons stand with the
// types in question.
package stream
