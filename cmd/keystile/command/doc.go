// Package command runs the keystile program on any storage adapter.
//
// A main function of a few lines gives an adapter of package storage/driver the command line,
// the configuration, metrics, mail, the demo and all else the program has:
//
//	func main() {
//		command.Main(command.Backend("sqlite", func(dir string) (driver.Backend, error) {
//			return sqlite.Open(filepath.Join(dir, "keystile.sqlite"))
//		}))
//	}
//
// An adapter offers more, such as a backup, by a Storage of its own; commands for parts that it
// leaves out say so and exit with code 1.
//
// Configuration comes from a file, the environment and flags; the list below has every key. Commands
// reach a running server through a socket in the data folder.
//
// The map of the program is assemble.go.
//
// # Running it
//
// keystile help lists the commands, each with --json for programs; keystile completion writes
// what a shell reads. app, user, session, lockout, key, setting, capability, client and apikey
// commands work through the running server or, where none runs, on the store itself.
//
// Behind a proxy that ends TLS, say what the world calls the service and whose X-Forwarded-For to believe:
//
//	keystile serve --base-url https://id.example.com --trusted-proxies 10.0.0.0/8
//
// Without trusted_proxies everybody behind the proxy shares the rate of one address. With https every
// answer says so for a year (HSTS).
//
// Sign-in by email, confirmed addresses and the reset of passwords need mail. Tried out with the demo,
// each mail is a file in the folder mail of the data folder; mail.smtp.host sends them, with STARTTLS
// unless mail.smtp.tls says otherwise. Users confirm their address at /oauth/signin/address. Nobody becomes a user by
// themselves, by a password, a code by email or a provider, unless signup says so: open, or invitation for those who
// have a code of keystile user invite. connectors.NAME.signup says it of one provider, such as a company's own.
//
// Users set up a second factor at /oauth/account/factors. mfa.default, and mfa.admin and its like by role,
// require it: users without one are reminded for mfa.grace, and must then set it up to sign in. keystile app set
// CLIENT_ID --mfa required requires it of one application's users. For a user who has lost phone and codes:
// keystile user factors USER --reset. Browsers keep no passkeys for a bare address: at home, use --base-url
// http://localhost:8080.
//
// An application with a backchannel_logout_uri is told when a session ends (package oauth). keystile webhook set
// --url URL says where events of users go, signed as Standard Webhooks are; keystile webhook list shows
// what waits or was given up.
//
// admin.listen opens /metrics and /debug/pprof on an address of their own. SIGTERM lets requests on their way
// finish; drain keeps a node that is told to stop serving while its balancer finds out, for a second where nobody has
// said how long and the store is a database that other nodes may share.
//
// # The data folder
//
// ./keystile-data (mode 0700) has the database, the master key that seals the secrets in it, the journal of
// calls that are not yet in the database (usage), and first-run.json. Keep a copy of master.key away from the
// database: neither is of use without the other. keystile key rekey changes that key while the service
// runs; a backup from before still wants the old one, so keep that as long.
//
// A folder belongs to one store, wherever that is (store.json names it). Where the store is gone, or the one of another
// service is in its place, nothing is started and nothing made: an empty service would refuse every token, on which
// clients drop their users. The message says what is missing and what is there; the way on is a backup, the right
// folder or address, or keystile storage forget, which says that the store will not come back. Of nodes that start
// at once on an empty database one makes the administrator, and has the only first-run.json.
//
// keystile backup copies the database while it is in use, with a checksum beside it, and keystile restore reads all
// of the copy before it takes the place of what there is. A cp of a live folder is no backup: its pages are
// of different moments, and it may start and lack what was answered. keystile storage compact gives back the
// room of what was removed; it wants the service stopped, and room for both files. A version that finds in a
// database what it does not know and must obey refuses it and says which version knows it, so take a backup
// before an upgrade: going back means restoring it. keystile storage copy moves a whole store to another
// adapter (package storage/transfer), with everybody signed in.
//
// The audit trail is kept for audit.keep and up to audit.max_size, or as keystile audit prune says. Removed records
// leave a checkpoint sealed with the master key, so that keystile audit verify still proves the rest; keystile
// audit export writes it out. Acts of strangers are summed there by minute and network. Usage by the hour is kept
// for 400 days, by the day for ever.
//
// Configuration is the last part of this page.
//
// # Choices
//
// serve opens the store before it listens, and listens before it looks at the store: of
// two servers on one folder the second one says so whatever its address, and base_url can
// name the port that port 0 became.
//
// SIGINT and SIGTERM stop accepting at once or, with drain, that much later: until then everything is
// answered, and /healthz/ready is 503, so that no request of a balancer meets a closed port. Then the
// requests on their way may finish for 8 seconds, what is left is cut off, and the process exits 0.
// A second signal ends it at once.
//
// A configuration that is not right exits 2, like any other wrong use of the command line:
// starting again without a change cannot help.
//
// Metrics and profiles are on a listener of their own (admin.listen), which asks for no
// password. An address that other machines reach is warned about and not refused: in a
// container that is the only kind there is. It answers 421 to a host that is neither its
// own, nor loopback, nor listed in admin.hosts, and to a request that names none: a web page
// whose name is made to lead there would read everything. On all addresses it answers to
// every address, which no page's name can be.
//
// The first run shows passwords on a terminal only. The demo, and mails in files, are for
// one's own machine: without a word they are off where base_url names another one, and where
// there is none and other machines can connect. A base_url of localhost turns them on even
// on all addresses: that is a container whose port is published on the same machine.
//
// storage check is told how many nodes there are, or takes two for a storage that can be shared: who
// asks has more than one, or is about to.
//
// A backup is read back before it is called one, and FILE.manifest.json beside it has its SHA-256:
// a changed letter in a record is found by nothing else. The checksum is of what was to be
// written, not of what the disk gives back. A backup without the manifest is restored after the
// other checks, with a word about it: it may be from before there were any. A trail that was
// broken already when the backup was made keeps it from being restored too.
//
// A clock that cannot be right stops nothing: the log says so, once, and what may have ended is
// kept. Which times are believed is told in package storage.
//
// /healthz/ready asks the store whether the last write went well, and whether what other processes
// write is known, and never its parts: what one of them refuses is no reason to send everybody to
// another machine.
//
// A change of the master key never leaves the key file without a key that something is
// sealed with, and throws no key away: backups from before need it.
//
// /openapi.json is joined of the packages' own parts when the program starts. The sign-in page
// and the demo are not in it: they are for people.
//
// With otel.endpoint, requests are traced by OpenTelemetry, through tools, services and the store, and the spans go
// to a collector; package telemetry says which, and why a client has no say in it. A line of the log that belongs
// to a recorded trace has its trace_id, and so have the buckets of /metrics, as exemplars, for a scraper that asks
// for OpenMetrics. The wrapper that makes spans of the store's steps is there only then.
//
// Every request gets a line in the log that names its route and not its path, let alone its
// query: a path can hold a token that somebody put in the wrong place.
package command

//go:generate go run gen.go
