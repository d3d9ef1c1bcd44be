package main

// world holds figures that were not measured: how people behave, and how large the machines are. A
// reader who disagrees changes a line of it.
type world struct {
	People  float64
	SignIns float64 // a second, at the peak of the day

	// Of each sign-in, which ends with tokens for an application.
	Passwords   float64 // share that types a password; the others have a session
	Refreshes   float64
	Machines    float64
	Calls       float64 // through the gateway
	UserInfos   float64
	Revocations float64
	HotShare    float64 // of all counted requests that belong to the busiest application

	NodeCores    float64
	PrimaryCores float64
	Busy         float64 // share of the processors that may be in use at the peak
	LogBytes     float64 // a second that a primary can log and send to its standby
	// seconds that a commit takes with a standby in the next building; it holds a counter's row for so long
	Commit       float64
	Connections  float64 // that a primary takes
	NodeConns    float64 // connections of a node, with the one that listens
	LeastConns   float64 // with which a node still works
	Wakes        float64 // notifications a second that a primary hands to listeners
	Listeners    float64 // above so many nodes of a primary, none listens (listen=off)
	RedisServers float64 // of the Redis of one primary's people
}

var assumed = world{
	People: 1e9, SignIns: 1e5,
	Passwords: 0.2, Refreshes: 1, Machines: 0.1, Calls: 50, UserInfos: 1, Revocations: 0.01, HotShare: 0.2,
	NodeCores: 16, PrimaryCores: 64, Busy: 0.6, LogBytes: 400e6, Commit: 0.0015, Connections: 5000, NodeConns: 17,
	LeastConns: 5,
	Wakes:      20_000, Listeners: 50, RedisServers: 6,
}

// Where regions stand, and what happens to one.
const (
	regions    = 3
	headroom   = 0.5  // built beyond the peak: a third of all machines may go
	moved      = 60   // seconds until those of a lost region ask another one
	away       = 1800 // seconds that it is lost
	patience   = 30   // seconds that an answer is waited for
	startAfter = 120  // seconds until standbys of the lost region are primaries elsewhere
)
