package link

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/counters/redis/internal/servers"
)

// counts are of acts that the server was asked for.
type counts struct{ answered, late, refused, failed, took atomic.Int64 }

func (c *counts) note(err error, took time.Duration) {
	c.took.Add(int64(took))
	if err == nil {
		c.answered.Add(1)
		return
	}
	switch kindOf(err) {
	case tooLate:
		c.late.Add(1)
	case actAlone:
		c.refused.Add(1)
	default:
		c.failed.Add(1)
	}
}

// Stats describes a Link.
type Stats struct {
	Up      bool
	Since   time.Time
	Lost    error // why it is not up
	Version string

	Answered, Late, Refused, Failed int64
	Took                            time.Duration // by all of them together
}

// Stats describes the Link at this moment.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{
		Up: l.up.Load(), Since: l.since, Lost: l.lost, Version: l.version,
		Answered: l.counts.answered.Load(), Late: l.counts.late.Load(), Refused: l.counts.refused.Load(),
		Failed: l.counts.failed.Load(), Took: time.Duration(l.counts.took.Load()),
	}
}

// versionOf asks who the server is; "" if it does not say, or may not.
func versionOf(client *servers.Client) string {
	answer, _ := client.Do(time.Now().Add(time.Second), "", "INFO", "server")
	info, err := answer.String()
	if err != nil {
		return ""
	}
	name, version := "redis", ""
	for line := range strings.SplitSeq(info, "\r\n") {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "server_name":
			name = value
		case "redis_version":
			if version == "" {
				version = value
			}
		case "valkey_version":
			version = value
		}
	}
	if version == "" {
		return ""
	}
	return name + " " + version
}
