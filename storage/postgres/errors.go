package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/keystile/keystile/storage/driver"
)

var errCountersStay = fmt.Errorf("%w: counters cannot be removed", driver.ErrInvalid)

// refusesSettings reports whether a pooler has refused a setting at the start of a connection.
func refusesSettings(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unsupported startup parameter")
}

// explain returns what is wrong with a database and what to do. It shows no password.
func explain(dsn string, err error) error {
	if err == nil || errors.Is(err, driver.ErrNewer) || errors.Is(err, context.Canceled) {
		return err
	}
	where := place(dsn)
	var answered *pgconn.PgError
	if errors.As(err, &answered) {
		if mend := mends[answered.Code]; mend != "" {
			return fmt.Errorf("postgres: %s: %s (%s, SQLSTATE %s)", where, mend, answered.Message, answered.Code)
		}
	}
	var untrusted *tls.CertificateVerificationError
	var unresolved *net.DNSError
	var unreachable *net.OpError
	switch parsing := (*pgconn.ParseConfigError)(nil); {
	case errors.As(err, &parsing):
		return fmt.Errorf("postgres: the address cannot be read; it is like "+
			"postgres://user@host/database?sslmode=verify-full: %w", err)
	case strings.Contains(err.Error(), "read only connection"):
		return fmt.Errorf("postgres: %s is a read-only replica: name the primary, or all hosts with commas between them",
			where)
	case errors.As(err, &untrusted):
		return fmt.Errorf("postgres: %s: the certificate of the server is not vouched for; name the file of who does by "+
			"sslrootcert in the address: %w", where, err)
	case errors.As(err, &unresolved):
		return fmt.Errorf("postgres: %s: the host is not known: %w", where, err)
	case errors.As(err, &unreachable), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("postgres: %s: no server answers; see that it runs, listens on this address and is not behind a "+
			"firewall: %w", where, err)
	}
	return fmt.Errorf("postgres: %s: %w", where, err)
}

// mends say what to do about an answer of the server, by SQLSTATE.
var mends = map[string]string{
	"28P01": "the password is wrong; set it in the address or by PGPASSWORD",
	"28000": "the server lets this user in from nowhere, or not from here; look at pg_hba.conf, and at sslmode in the " +
		"address",
	"3D000": "the database is not there; make it with CREATE DATABASE, as a user who may",
	"42501": "the user may not do this; let an administrator run: GRANT CREATE ON DATABASE ... TO ... (or make the " +
		"schema and give it to the user)",
	"53300": "the server has no connection left; raise max_connections, or let each node have fewer",
	"57P03": "the server is starting or stopping; try again soon",
	"25006": "this is a read-only replica: name the primary, or all hosts with commas between them",
	"0A000": "the server cannot do this; PostgreSQL 15 or newer is needed",
}

// place names a database without its secrets.
func place(dsn string) string {
	config, err := connConfig(dsn)
	if err != nil {
		return "the database"
	}
	return fmt.Sprintf("%s@%s:%d/%s", config.User, config.Host, config.Port, config.Database)
}
