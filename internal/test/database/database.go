// Package database finds the PostgreSQL that tests use, and gives each of them a schema of its own.
// .ci/postgres starts a server, and sets the variables that name it.
package database

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The variables of the environment that name a server: itself, a PgBouncer before it that hands out
// connections for one transaction, and what the server shows that it is the right one.
const (
	Direct = "KEYSTILE_POSTGRES_URL"
	Pooled = "KEYSTILE_PGBOUNCER_URL"
	CA     = "KEYSTILE_POSTGRES_CA" // a file with the certificate that vouches for the server
)

// URL returns the address that a variable has. Without one the test is skipped.
func URL(t testing.TB, variable string) string {
	t.Helper()
	address := os.Getenv(variable)
	if address == "" {
		t.Skipf(`%s is not set: eval "$(.ci/postgres start DIR)" starts a server for tests`, variable)
	}
	return address
}

// Schema returns the name of a schema that nobody has. It is dropped when the test ends.
func Schema(t testing.TB) string {
	t.Helper()
	name := "t_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { Exec(t, "DROP SCHEMA IF EXISTS "+name+" CASCADE") })
	return name
}

// WithSchema returns the address of the server for postgres.Open and --storage-url, with a schema
// that nobody has.
func WithSchema(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(URL(t, Direct))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("schema", Schema(t))
	u.RawQuery = q.Encode()
	return u.String()
}

// Exec runs statements as the owner of the server.
func Exec(t testing.TB, statements ...string) {
	t.Helper()
	c := Connect(t)
	defer c.Close(context.Background())
	for _, s := range statements {
		if _, err := c.Exec(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Connect returns a connection to the server, which the caller closes.
func Connect(t testing.TB) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), URL(t, Direct))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Conn is a connection to a server, for tools that are no tests.
type Conn = pgx.Conn

// Open connects to the server at an address.
func Open(ctx context.Context, address string) (*Conn, error) { return pgx.Connect(ctx, address) }
