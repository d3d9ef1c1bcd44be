// Package stream ships what the store collects to where others keep it: the audit trail and usage, as lines
// of JSON, to a store of objects (package gateway/stream/s3), to standard output (Writer), or to a Target of
// the host's own, such as one for Kafka.
//
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store, Stream: stream.Config{Target: target}})
//	g, err := gateway.New(ctx, gateway.Config{Store: store, UsageStream: stream.Config{Target: target}, ...})
//
// Only the Config of a process turns it on: there is no request that does.
//
// # What a consumer can rely on
//
// Lines of a stream come in order and at least once. A line that comes again has the same id, so whoever keeps
// the ids it has seen drops it. Nothing is left out: what could not be shipped is said by a line.
//
// An audit record is the line of an export (keystile audit export) behind three fields: stream, which is
// "audit", its seq, and its id, made of the seq and the beginning of its hash:
//
//	{"stream":"audit","seq":42,"id":"42-9f86d081884c7d65","chain":"...","n":7,...,"hash":"9f86d081..."}
//
// Seqs follow each other without a gap, so a missing line shows. Beside that, "{" and what stands behind the
// id is the record to the letter, and the hash it ends in is that of the chain (package internal/audit): who
// has all lines proves that none was changed, without asking the service. Where records were removed before
// they were shipped, a line {"stream":"audit.gap","id":...,"first":...,"last":...} has their place. Bytes that
// are no record, which somebody has put into the store, are in base64 in a field damaged.
//
// A row of usage says how often an account called a product or a tool in an hour of UTC, in all:
//
//	{"stream":"usage","id":...,"hour":"2026-03-01T17:00:00Z","account":"app1","client_id":"app1",
//	 "by":"product","name":"ai","calls":12,"errors":1}
//
// Sums are whole and never shrink. So of several lines of an hour, account, by and name the one with the most
// calls is right, in whatever order they come. An account is an application; of one that nobody registered,
// and of API keys, it is the application, a blank and the user. Rows by user are not shipped. An hour ends in
// a line of the stream usage.hour, with the calls of the whole service and those of the rows by product:
// where the second number is smaller, some process counted without shipping. Hours without a call have no line.
//
// # Choices
//
// A follower reads the store, as the index of the trail does, and keeps its position there, one for each
// stream and target. So nothing waits for a target, and a process that is killed loses nothing that the store
// has. Of several processes one ships, by a lease; where two do, the version of the position decides, and both
// have shipped the same.
//
// The end of a batch is kept before it is shipped, and its beginning after. Whoever ships it again ships the same
// records under the same key. A new target gets the whole trail, as far as it is still there.
//
// A target that is away is tried again after a pause that doubles from a second to a minute. It is logged once,
// until it works again. One batch is in memory, whatever waits. The age of what waits is in the metrics.
//
// Records that are not shipped are kept beyond what retention allows, for up to twice its age and twice its
// size. Then the oldest are removed all the same, because a full disk stops more than a stream, and the log and
// the stream say so. What an operator removes by hand (keystile audit prune) does not wait.
//
// An hour of usage is shipped five minutes after its end. Calls that come later, from a node that was away,
// change the sum of the hour: for 35 days the hour is shipped once more then, as its next revision. Stores list
// rows by account only, and accounts may be millions, so each process notes whom it is about to count in
// an hour before it does: a Marker. Such a note is made once for each account, hour and process, and ends after
// 40 days. Usage begins with the next whole hour after it was turned on.
//
// No secret is on the trail, and so none is in a stream. Persons are: subs, addresses. What has been
// shipped is out of reach: erasing a user in the store removes nothing there, so whoever keeps the lines has
// to keep them no longer than they may.
//
// After a restore from a backup, numbers are given out again and the position is as old as the rest: lines with
// known ids come again, and other lines with the same seq and another id. A position that does not fit the
// trail is noticed, and all of the trail is shipped.
package stream
