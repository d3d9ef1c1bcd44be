package main

// reserve is something that a cluster beyond one primary needs of the formats and contracts of today.
type reserve struct {
	Name  string
	There bool
	Says  string // what there is, and what is missing
}

var reserves = []reserve{
	{"family byte in handles", false,
		"A handle is 8 bytes of time and 24 random ones, and none of them is set aside: nothing in a refresh token, code " +
			"or cookie says whose primary has it. The sign of the time is 0 in each of them until 2262 and could mark handles " +
			"of another shape; so could a prefix of their own (rt2_), beside those of today."},
	{"usage is counted by node", true,
		"driver.Batch names its node and numbers what it sends, so nodes count at home, once a second, and a batch that is " +
			"sent twice counts once. Sums of several primaries can be added up."},
	{"feeds can be read without notifications", true,
		"listen=off: nodes read each second, tell nobody, and take no lock that all databases of a server share. The bound " +
			"of a second stays."},
	{"leases of limits", false,
		"Each request of an application takes one act on its one key. storage/counters/redis has no lease of a part of a " +
			"limit that a node could use up by itself; storage/counters.Limiter would let one in, since a node asks it and " +
			"nobody else. While Redis is away nodes do keep a share each."},
	{"leases of background work", true,
		"internal/record/lease.Task is done by one node at a time, by a document in the store; several primaries " +
			"have one each."},
	{"numbers of feeds", false,
		"A Seq rises within one store: two stores give the same numbers out. A node reads one feed, and would have to " +
			"follow one for each primary whose tokens it takes."},
}
