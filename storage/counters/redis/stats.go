package redis

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

// Stats describes Counters at a moment. Numbers of acts are since Open.
type Stats struct {
	Connected bool      // the server counts; if not, this node counts alone
	Since     time.Time // when that began
	Version   string    // of the server, such as "redis 7.0.15"; "" if it has not said it
	Error     error     // why it is not Connected

	Answered  int64 // acts that the server answered
	Late      int64 // acts that it answered too late, or not at all
	Refused   int64 // acts that it refused alone, such as for a key of another type
	Failed    int64 // acts that failed because it could not be reached or takes no writes
	Alone     int64 // acts that this node judged by its share
	NotUndone int64 // acts that stay counted though they were to be taken back

	Took time.Duration // what the acts that the server was asked for took together
}

// Stats describes the Counters.
func (c *Counters) Stats() Stats {
	s := c.link.Stats()
	return Stats{
		Connected: s.Up, Since: s.Since, Version: s.Version, Error: s.Lost,
		Answered: s.Answered, Late: s.Late, Refused: s.Refused, Failed: s.Failed, Took: s.Took,
		Alone: c.alone.Load(), NotUndone: c.notTaken.Load(),
	}
}

// Describe returns who counts, for operators: Redis, Valkey or what else the server says that it is, its
// version, "" before it has said it, and where it is, as host:port, without the user and the password of its address.
func (c *Counters) Describe() (kind, version, at string) {
	kind, version, _ = strings.Cut(c.link.Stats().Version, " ")
	switch kind = cmp.Or(kind, "redis"); kind {
	case "redis":
		kind = "Redis"
	case "valkey":
		kind = "Valkey"
	}
	return kind, version, c.at
}

// Reached reports whether the server counts, and since when; where it does not, this node keeps its share
// of each limit.
func (c *Counters) Reached() (now bool, since time.Time) {
	s := c.link.Stats()
	return s.Up, s.Since
}

// placeOf names where a server is found.
func placeOf(t resp.Target) string {
	at := strings.Join(t.Addresses, ",")
	if t.DB != 0 {
		at += fmt.Sprintf("/%d", t.DB)
	}
	if t.MasterSet != "" {
		at = t.MasterSet + " (" + at + ")"
	}
	return at
}
