package main

// cost holds what one act takes.
type cost struct {
	Trips   float64 // round trips to the database
	Commits float64 // of those, that write
	WAL     float64 // bytes that the database logs, and sends to its standby
	Node    float64 // microseconds of a processor of the node
	DB      float64 // microseconds of a processor of the database
}

func (c cost) times(n float64) cost {
	return cost{c.Trips * n, c.Commits * n, c.WAL * n, c.Node * n, c.DB * n}
}

func (c cost) plus(d cost) cost {
	return cost{c.Trips + d.Trips, c.Commits + d.Commits, c.WAL + d.WAL, c.Node + d.Node, c.DB + d.DB}
}

// measuredBy says how the figures of this file were got.
const measuredBy = `2 shared cores with a load of 8 to 12, PostgreSQL 15 and Redis 7.0 on loopback, no standby, 2026-11-23;
medians of four runs, whose rates with commits are up to 3 times apart:
    eval "$(.ci/postgres start DIR1)"; eval "$(.ci/redis start DIR2)"
    go -C internal/test/campaigns test ./capacity -run Measure -measure -v
The check of a call: go test -run xxx -bench Check ./gateway, without that load (internal/test/campaigns/bench/README.md).`

// Measured costs of acts.
var (
	signIn   = cost{4.3, 1.03, 1245, 29674, 1400} // a password, argon2id
	grant    = cost{10, 2, 1556, 1166, 975}       // a session is there: authorize, then the code for tokens
	refresh  = cost{4, 1, 764, 537, 350}
	machine  = cost{1, 0.01, 0, 200, 125} // client_credentials
	call     = cost{0, 0, 0, 4.3, 0}      // the check of a call, with journal
	userinfo = cost{1, 0, 0, 89, 75}
	revoke   = cost{1, 1, 525, 202, 300}
	// of the audit trail, of many at once: its bytes are those of a run of client_credentials
	record = cost{0, 0, 554, 0, 10}
)

// Measured rates of what is done one after another, with 8 callers.
const (
	revocations = 665.0    // a second: each takes the number of the feed (356 to 1783)
	appends     = 795.0    // a second, of one record: each takes the number of the trail (635 to 2330)
	records     = 101000.0 // a second, a thousand at once (66,908 to 191,119)
	redisHot    = 23400.0  // acts a second on one key (22,321 to 38,281)
	redisSpread = 20300.0  // acts a second of one server on keys of their own (16,145 to 27,109)
)
