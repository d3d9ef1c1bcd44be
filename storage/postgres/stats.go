package postgres

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Stats is the state of the connections of a Store.
type Stats struct {
	Conns, InUse, Max int
	Waits             int64         // calls that had to wait for a connection, since the start
	Waited            time.Duration // how long they did, in all
}

// Stats returns the state of the connections.
func (s *Store) Stats() Stats {
	p := s.pool.Stat()
	return Stats{int(p.TotalConns()), int(p.AcquiredConns()), int(p.MaxConns()), p.EmptyAcquireCount(),
		p.EmptyAcquireWaitTime()}
}

// Describe returns what the Store is: the version of the server when it was opened, and host:port/database,
// with every host of the DSN. The user, the password and the parameters of that are left out.
func (s *Store) Describe() (kind, version, at string) { return "PostgreSQL", s.version, s.place }

// addressOf names where a database is reached. A host has a second entry where it may refuse TLS.
func addressOf(c *pgconn.Config) string {
	hosts := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		if host := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return strings.Join(hosts, ",") + "/" + c.Database
}
