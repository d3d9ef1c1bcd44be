package postgres_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/postgres"
)

// states returns what a check says of each thing, and each text once.
func states(t *testing.T, dsn string, o postgres.Options, nodes int) map[string]postgres.Finding {
	t.Helper()
	all := map[string]postgres.Finding{}
	for _, f := range postgres.Check(t.Context(), dsn, o, nodes) {
		if _, twice := all[f.Name]; twice {
			t.Errorf("%s is said twice", f.Name)
		}
		if f.Says == "" || (f.State == postgres.Safe) != (f.Do == "") {
			t.Errorf("%s: a finding says what is so, and what to do unless it is safe: %+v", f.Name, f)
		}
		all[f.Name] = f
	}
	return all
}

// wantState checks one finding, and that its text has some words.
func wantState(t *testing.T, all map[string]postgres.Finding, name string, want postgres.State, words ...string) {
	t.Helper()
	f := all[name]
	if f.State != want {
		t.Errorf("%s is %q (%s), want %q", name, f.State, f.Says, want)
	}
	for _, w := range words {
		if !strings.Contains(f.Says+" "+f.Do, w) {
			t.Errorf("%s does not say %q: %s; %s", name, w, f.Says, f.Do)
		}
	}
}

// having returns an address with more parameters.
func having(t *testing.T, address string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// as returns the address of a new role with settings of its own.
func as(t *testing.T, dsn, schema string, settings ...string) string {
	t.Helper()
	role := "r_" + schema
	sql(t, "CREATE ROLE "+role+" LOGIN", "GRANT CREATE ON DATABASE keystile TO "+role)
	t.Cleanup(func() { sql(t, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, s := range settings {
		sql(t, "ALTER ROLE "+role+" "+s)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

func TestCheckSaysThatItIsSafe(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	o := postgres.Options{Schema: schema, Conns: 4}
	open(t, dsn, o).Close()
	all := states(t, dsn, o, 2)
	for _, name := range []string{"connection", "version", "tables", "fsync", "full_page_writes", "synchronous_commit",
		"clock", "connections", "timeouts", "isolation", "autovacuum", "listen", "tls"} {
		wantState(t, all, name, postgres.Safe)
	}
	wantState(t, all, "standby", postgres.Note, "there is no standby", "synchronous_standby_names")
	if len(all) != 14 {
		t.Errorf("%d findings", len(all))
	}
}

func TestSettingsOfTheUserThatAreNotSafeAreFound(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	role := as(t, dsn, schema, "SET synchronous_commit = off", "SET lock_timeout = '1s'",
		"SET idle_session_timeout = '20s'",
		"SET default_transaction_isolation = 'serializable'", "CONNECTION LIMIT 10")
	all := states(t, having(t, role, "statement_timeout", "100ms"), postgres.Options{Schema: schema, Conns: 6}, 2)
	wantState(t, all, "synchronous_commit", postgres.Unsafe, "loses what was acknowledged", "ALTER ROLE")
	wantState(t, all, "timeouts", postgres.Unsafe, "idle_session_timeout is 20s and has to be at least 1m0s, "+
		"lock_timeout is 1s and has to be at least 5s, statement_timeout is 100ms", "RESET")
	wantState(t, all, "isolation", postgres.Unsafe, "serializable")
	wantState(t, all, "connections", postgres.Unsafe, "2 nodes with up to 7 connections each, and there is room for 10",
		"pool_max_conns=2")
	if all := states(t, role, postgres.Options{Schema: schema, Conns: 1}, 5); all["connections"].State != postgres.Safe {
		t.Errorf("5 nodes of 2 connections have room in 10: %+v", all["connections"])
	}
	if all := states(t, role, postgres.Options{Schema: schema, Conns: 1},
		6); all["connections"].State != postgres.Unsafe || strings.Contains(all["connections"].Do, "pool_max_conns") {
		t.Errorf("6 nodes of 2 connections have no room in 10, and cannot have fewer: %+v", all["connections"])
	}
}

func TestStepsThatAreMissingOrOfAnotherVersionAreFound(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	o := postgres.Options{Schema: schema}
	wantState(t, states(t, dsn, o, 1), "tables", postgres.Note, "the next node that starts")
	o.NeverMigrate = true
	wantState(t, states(t, dsn, o, 1), "tables", postgres.Unsafe, "none of this version starts",
		"keystile storage migrate up")
	if there := database.Connect(t); there != nil {
		defer there.Close(t.Context())
		var n int
		if err := there.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = $1",
			schema).Scan(&n); err != nil || n != 0 {
			t.Errorf("a check makes tables: %d, %v", n, err)
		}
	}
	o.NeverMigrate = false
	open(t, dsn, o).Close()
	sql(t, "INSERT INTO "+schema+".migration (n, name, sum) VALUES (1000, '1000_later.sql', '')")
	wantState(t, states(t, dsn, o, 1), "tables", postgres.Unsafe, "1000_later.sql", "newer")
	sql(t, "UPDATE "+schema+".migration SET sum = 'altered' WHERE n = 1")
	wantState(t, states(t, dsn, o, 1), "tables", postgres.Unknown, "altered")
	sql(t, "ALTER TABLE "+schema+".doc SET (autovacuum_enabled = false)")
	wantState(t, states(t, dsn, o, 1), "autovacuum", postgres.Unsafe, "autovacuum of doc")
}

func TestPoolerWithoutAWayToListenPastItIsFound(t *testing.T) {
	through, schema := address(t, pooled), newSchema(t)
	o := postgres.Options{Schema: schema}
	wantState(t, states(t, through, o, 2), "listen", postgres.Unsafe, "a pooler stands between", "listen=postgres://")
	wantState(t, states(t, through, o, 2), "connections", postgres.Safe, "default_pool_size")
	o.ListenDSN = through
	wantState(t, states(t, through, o, 2), "listen", postgres.Unsafe, "through a pooler")
	o.ListenDSN = strings.Replace(address(t, direct), "/keystile?", "/postgres?", 1)
	wantState(t, states(t, through, o, 2), "listen", postgres.Unsafe, "leads to another database")
	o.ListenDSN = "postgres://nobody:opensesame@127.0.0.1:1/none"
	all := states(t, through, o, 2)
	wantState(t, all, "listen", postgres.Unsafe, "no server answers")
	if strings.Contains(all["listen"].Says, "opensesame") {
		t.Errorf("it shows a password: %s", all["listen"].Says)
	}
	o.ListenDSN = address(t, direct)
	wantState(t, states(t, through, o, 2), "listen", postgres.Safe, "notifications arrive")
	wantState(t, states(t, through, o, 51), "listen", postgres.Note, "listen=off")
	o = postgres.Options{Schema: schema, PollOnly: true}
	wantState(t, states(t, through, o, 51), "listen", postgres.Safe, "within a second")
}

func TestOpenWayToTheDatabaseIsFound(t *testing.T) {
	for _, c := range []struct {
		dsn  string
		want postgres.State
	}{
		{"postgres://localhost/d?sslmode=disable", postgres.Safe},
		{"postgres://127.0.0.9/d?sslmode=disable", postgres.Safe},
		{"postgres://[::1]/d?sslmode=disable", postgres.Safe},
		{"postgres:///d?host=/run/postgresql", postgres.Safe},
		{"postgres://db.example.com/d?sslmode=disable", postgres.Unsafe},
		{"postgres://10.0.0.7/d?sslmode=disable", postgres.Unsafe},
		{"postgres://db.example.com/d?sslmode=require", postgres.Note},
		{"postgres://db.example.com/d?sslmode=verify-ca&sslrootcert=" + url.QueryEscape(address(t, database.CA)),
			postgres.Safe},
		{"postgres://db.example.com/d?sslmode=verify-full", postgres.Safe},
	} {
		config, err := pgx.ParseConfig(c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got := postgres.JudgeWay(config.Host, config.TLSConfig); got.State != c.want {
			t.Errorf("%s is %+v, want %s", c.dsn, got, c.want)
		}
	}
}

func TestServerThatDoesNotAnswerIsUnknown(t *testing.T) {
	found := postgres.Check(t.Context(), "postgres://u:opensesame@127.0.0.1:1/d?connect_timeout=1",
		postgres.Options{Timeout: time.Second}, 2)
	if len(found) != 1 || found[0].State != postgres.Unknown || !strings.Contains(found[0].Says, "no server answers") ||
		strings.Contains(found[0].Says, "opensesame") {
		t.Errorf("%+v", found)
	}
}
