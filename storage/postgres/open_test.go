package postgres_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest"
)

// with changes parts of an address.
func with(t *testing.T, dsn string, change func(*url.URL, url.Values)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	change(u, q)
	u.RawQuery = q.Encode()
	return u.String()
}

func sql(t testing.TB, statements ...string) { t.Helper(); database.Exec(t, statements...) }

func TestErrorAtTheStartSaysWhatToDo(t *testing.T) {
	dsn := address(t, direct)
	role := newSchema(t)
	sql(t, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { sql(t, "DROP ROLE "+role) })
	ascii := newSchema(t)
	sql(t, "CREATE DATABASE "+ascii+" ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { sql(t, "DROP DATABASE "+ascii+" WITH (FORCE)") })
	for _, c := range []struct{ name, dsn, says string }{
		{"a wrong password", with(t, dsn,
			func(u *url.URL, _ url.Values) { u.User = url.UserPassword("keystile_password", "sesame") }), "password is wrong"},
		{"no right to make a schema", with(t, dsn, func(u *url.URL, _ url.Values) { u.User = url.User(role) }),
			"GRANT CREATE ON DATABASE"},
		{"no such database", with(t, dsn, func(u *url.URL, _ url.Values) { u.Path = "/nowhere" }), "CREATE DATABASE"},
		{"a standby", with(t, dsn, func(_ *url.URL, q url.Values) { q.Set("default_transaction_read_only", "on") }),
			"read-only replica"},
		{"an encoding that is not UTF8", with(t, dsn, func(u *url.URL, _ url.Values) { u.Path = "/" + ascii }),
			"ENCODING 'UTF8'"},
		{"a port where nothing listens", with(t, dsn, func(u *url.URL, _ url.Values) { u.Host = "127.0.0.1:1" }),
			"no server answers"},
		{"no address", "postgres://%zz", "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), c.dsn, postgres.Options{Schema: newSchema(t)})
			if err == nil {
				s.Close()
				t.Fatal("Open() = nil")
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("Open() = %v, want it says %q and no password", err, c.says)
			}
		})
	}
}

// A server whose certificate nobody vouches for gets no password.
func TestServerIsVerified(t *testing.T) {
	dsn, ca := address(t, direct), address(t, database.CA)
	verified := func(root string) string {
		return with(t, dsn, func(_ *url.URL, q url.Values) { q.Set("sslmode", "verify-full"); q.Set("sslrootcert", root) })
	}
	open(t, verified(ca), postgres.Options{Schema: newSchema(t)}).Close()

	other := httptest.NewTLSServer(nil)
	other.Close()
	wrong := filepath.Join(t.TempDir(), "other.crt")
	if err := os.WriteFile(wrong, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), verified(wrong), postgres.Options{Schema: newSchema(t)})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "sslrootcert") {
		t.Errorf("Open(with another's certificate as root) = %v, want what to do about it", err)
	}
}

// The owner of a schema needs no other right.
func TestDatabaseThatAnswersBeforeItHasStoredIsWarnedOf(t *testing.T) {
	for commit, warns := range map[string]bool{"on": false, "local": false, "off": true} {
		var said strings.Builder
		dsn := with(t, address(t, direct), func(_ *url.URL, q url.Values) { q.Set("synchronous_commit", commit) })
		s := open(t, dsn, postgres.Options{Schema: newSchema(t), Log: slog.New(slog.NewTextHandler(&said, nil))})
		s.Close()
		if strings.Contains(said.String(), "synchronous_commit = on") != warns {
			t.Errorf("synchronous_commit=%s: it says %q", commit, &said)
		}
	}
}

func TestRoleThatOwnsTheSchemaAloneIsEnough(t *testing.T) {
	role, schema := newSchema(t), newSchema(t)
	sql(t, "CREATE ROLE "+role+" LOGIN", "CREATE SCHEMA "+schema+" AUTHORIZATION "+role)
	t.Cleanup(func() { sql(t, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	dsn := with(t, address(t, direct), func(u *url.URL, _ url.Values) { u.User = url.User(role) })
	s := open(t, dsn, postgres.Options{Schema: schema})
	defer s.Close()
	if _, err := s.Put(t.Context(), driver.Doc{Kind: "k", ID: "i"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Sweep(t.Context(), time.Now(), 10); err != nil {
		t.Error(err)
	}
}

// Where an administrator makes the tables the service needs no right to change them.
func TestRoleThatMayOnlyReadAndWriteIsEnoughWhereAnotherMakesTheTables(t *testing.T) {
	role, schema := newSchema(t), newSchema(t)
	sql(t, postgres.Script(schema, 0), "CREATE ROLE "+role+" LOGIN", "GRANT USAGE ON SCHEMA "+schema+" TO "+role,
		"GRANT ALL ON ALL TABLES IN SCHEMA "+schema+" TO "+role, "GRANT ALL ON ALL SEQUENCES IN SCHEMA "+schema+" TO "+role)
	t.Cleanup(func() { sql(t, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	dsn := with(t, address(t, direct), func(u *url.URL, _ url.Values) { u.User = url.User(role) })
	s := open(t, dsn, postgres.Options{Schema: schema, NeverMigrate: true, Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	now := time.Now()
	issued(t, s, now, 30*24*time.Hour, 3)
	if _, err := s.Put(t.Context(), driver.Doc{Kind: "k", ID: "i"}); err != nil {
		t.Error(err)
	}
	if n := swept(t, s, now.Add(31*24*time.Hour)); n != 3 {
		t.Errorf("%d were swept, want the 3 that have ended", n)
	}
}

func TestNodesThatStartAtOnceMakeTheTablesOnce(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema, Conns: 2})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	steps, err := postgres.Status(t.Context(), dsn, postgres.Options{Schema: schema})
	if err != nil || len(steps) == 0 {
		t.Fatal(steps, err)
	}
	for i, step := range steps {
		if step.Number != i+1 || step.At.IsZero() {
			t.Errorf("step %d is %+v", i+1, step)
		}
	}
}

func TestScriptDoesWhatOpenDoes(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	o := postgres.Options{Schema: schema, NeverMigrate: true}
	if _, err := postgres.Open(t.Context(), dsn, o); err == nil ||
		!strings.Contains(err.Error(), "keystile storage migrate up") {
		t.Fatalf("Open(without tables) = %v", err)
	}
	sql(t, postgres.Script(schema, 0))
	open(t, dsn, o).Close()
	if taken, err := postgres.Migrate(t.Context(), dsn, o); err != nil || len(taken) != 0 {
		t.Errorf("Migrate() = %v, %v, want nothing left to do", taken, err)
	}
	other := postgres.Options{Schema: newSchema(t)}
	all, err := postgres.Status(t.Context(), dsn, other)
	if err != nil || !all[0].At.IsZero() {
		t.Errorf("Status(before) = %v, %v", all, err)
	}
	if taken, err := postgres.Migrate(t.Context(), dsn, other); err != nil || len(taken) != len(all) {
		t.Errorf("Migrate() = %d steps, %v, want %d", len(taken), err, len(all))
	}
}

// ahead is a step of a version to come: one that this version can live with if it is additive.
func ahead(schema, name string) []string {
	return []string{
		"ALTER TABLE " + schema + ".doc ADD COLUMN next_version text",
		"ALTER TABLE " + schema + ".token ADD COLUMN next_version text",
		"ALTER TABLE " + schema + ".revocation ADD COLUMN next_version text NOT NULL DEFAULT ''",
		"ALTER TABLE " + schema + ".usage ADD COLUMN next_version bigint NOT NULL DEFAULT 0",
		"ALTER TABLE " + schema + ".record ADD COLUMN next_version bytea",
		"CREATE TABLE " + schema + ".next_table (id int)",
		fmt.Sprintf("INSERT INTO %s.migration (n, name, sum) SELECT max(n) + 1, '%s', '' FROM %[1]s.migration", schema, name),
	}
}

func TestTablesOfANewerVersionAreRefused(t *testing.T) {
	dsn, o := address(t, direct), postgres.Options{Schema: newSchema(t)}
	open(t, dsn, o).Close()
	sql(t, ahead(o.Schema, "9999_other.sql")...)
	if _, err := postgres.Open(t.Context(), dsn, o); !errors.Is(err, driver.ErrNewer) ||
		!strings.Contains(err.Error(), "9999_other.sql") {
		t.Errorf("Open() = %v, want ErrNewer with the step's name", err)
	}
}

func TestTablesMadeByAnAlteredStepAreRefused(t *testing.T) {
	dsn, o := address(t, direct), postgres.Options{Schema: newSchema(t)}
	open(t, dsn, o).Close()
	sql(t, "UPDATE "+o.Schema+".migration SET sum = 'other' WHERE n = 1")
	if _, err := postgres.Open(t.Context(), dsn, o); err == nil || !strings.Contains(err.Error(), "altered") {
		t.Errorf("Open() = %v", err)
	}
}

// Nodes of this version and of the next one run beside each other while they are replaced.
func TestContractOnTablesThatAreAStepAhead(t *testing.T) {
	dsn := address(t, direct)
	storagetest.Run(t, func(t *testing.T) driver.Backend {
		o := postgres.Options{Schema: schemaOf(t)}
		s := open(t, dsn, o)
		if steps, err := postgres.Status(t.Context(), dsn, o); err != nil {
			t.Fatal(err)
		} else if last := steps[len(steps)-1]; strings.Contains(last.Name, "additive") {
			return s
		}
		s.Close()
		sql(t, ahead(o.Schema, "9999_more.additive.sql")...)
		return open(t, dsn, o)
	})
}

func TestCallIsObserved(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]error{}
	s := open(t, address(t, direct), postgres.Options{Schema: newSchema(t), Log: slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, statement string, _ time.Duration, err error) {
			mu.Lock()
			seen[statement] = err
			mu.Unlock()
		}})
	defer s.Close()
	_, _ = s.Get(t.Context(), "k", "i")
	_, _ = s.Put(t.Context(), driver.Doc{Kind: "k", ID: "i"})
	if err, there := seen["get"]; !there || !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("get was observed: %v, %v", there, err)
	}
	if err, there := seen["put"]; !there || err != nil {
		t.Errorf("put was observed: %v, %v", there, err)
	}
}

func TestStoreSaysWhereItIsAndNothingSecret(t *testing.T) {
	dsn := address(t, direct)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	both := with(t, dsn, func(u *url.URL, _ url.Values) { u.Host += ",127.0.0.1:1" })
	pairs := "host=" + u.Hostname() + " port=" + u.Port() + " user=" + u.User.Username() + " dbname=" + u.Path[1:] +
		" sslmode=disable password=sesame"
	for given, want := range map[string]string{
		with(t, dsn, func(u *url.URL, q url.Values) {
			u.User = url.UserPassword(u.User.Username(), "sesame")
			q.Set("sslmode", "prefer")
		}): u.Host + u.Path,
		both: u.Host + ",127.0.0.1:1" + u.Path, pairs: u.Host + u.Path,
	} {
		s := open(t, given, postgres.Options{Schema: schemaOf(t)})
		kind, version, at := s.Describe()
		if major, err := strconv.Atoi(version[:min(2, len(version))]); kind != "PostgreSQL" || err != nil || major < 15 ||
			strings.Contains(version, " ") || at != want {
			t.Errorf("it is %q %q at %q, want a PostgreSQL at %q", kind, version, at, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
