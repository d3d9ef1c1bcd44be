package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/postgres"
)

// ownServer is a PostgreSQL of one test, whose settings are nobody else's.
type ownServer struct {
	t         *testing.T
	bin, data string
	port      int
	as        *syscall.SysProcAttr
}

// newServer makes a server, or one that begins with what base copies into its folder, and starts it.
func newServer(t *testing.T, fill func(*ownServer), settings ...string) *ownServer {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts servers of its own")
	}
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		t.Skip("PostgreSQL is not installed in /usr/lib/postgresql (Debian: postgresql)")
	}
	slices.Sort(bins)
	// Its user has to get into the folder, and t.TempDir is for the owner alone.
	dir, err := os.MkdirTemp("", "keystile-check-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &ownServer{t: t, bin: bins[len(bins)-1], data: filepath.Join(dir, "data"), port: freePort(t)}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("there is no user postgres to run a server as")
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	fill(s)
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=16MB",
		s.port)
	for _, o := range settings {
		options += " -c " + o
	}
	s.run("pg_ctl", "-D", s.data, "-l", filepath.Join(dir, "log"), "-o", options, "-w", "start")
	t.Cleanup(func() { s.run("pg_ctl", "-D", s.data, "-m", "immediate", "-w", "stop") })
	return s
}

func empty(s *ownServer) {
	s.run("initdb", "-D", s.data, "-U", "keystile", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
}

// copyOf fills a folder with what a standby of another server begins with.
func copyOf(primary *ownServer, name string) func(*ownServer) {
	return func(s *ownServer) {
		s.run("pg_basebackup", "-D", s.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d",
			primary.url("postgres")+"&application_name="+name)
	}
}

func (s *ownServer) run(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = "/", s.as
	// A server keeps what it is given open, so it is given no pipe.
	out, err := os.CreateTemp("", "keystile-check-*.out")
	if err != nil {
		s.t.Fatal(err)
	}
	defer os.Remove(out.Name())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		s.t.Fatalf("%s: %v: %s", name, err, said)
	}
}

func (s *ownServer) url(db string) string {
	return fmt.Sprintf("postgres://keystile@127.0.0.1:%d/%s?sslmode=disable", s.port, db)
}

func (s *ownServer) exec(statements ...string) {
	s.t.Helper()
	c, err := pgx.Connect(context.Background(), s.url("postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, statement := range statements {
		if _, err := c.Exec(context.Background(), statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// until waits for a condition that the server is asked for again and again.
func (s *ownServer) until(condition string) {
	s.t.Helper()
	s.exec(`DO $$ BEGIN FOR i IN 1..600 LOOP IF ` + condition + ` THEN RETURN; END IF; PERFORM pg_sleep(0.05); PERFORM pg_stat_clear_snapshot(); END LOOP; RAISE 'never: ` + strings.ReplaceAll(condition, "'", "''") + `'; END $$`)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestSettingsOfTheServerThatAreNotSafeAreFound(t *testing.T) {
	s := newServer(t, empty, "fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=20",
		"idle_session_timeout=5000")
	all := states(t, s.url("postgres"), postgres.Options{}, 2)
	wantState(t, all, "fsync", postgres.Unsafe, "damage the whole database")
	wantState(t, all, "full_page_writes", postgres.Unsafe, "half written")
	wantState(t, all, "autovacuum", postgres.Unsafe, "autovacuum is off")
	wantState(t, all, "connections", postgres.Unsafe, "2 nodes with up to 17 connections each, and there is room for 17",
		"pool_max_conns=4")
	wantState(t, all, "timeouts", postgres.Unsafe, "idle_session_timeout is 5s")
	s.exec("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
	wantState(t, states(t, s.url("latin"), postgres.Options{}, 2), "version", postgres.Unsafe, "LATIN1", "UTF8")
}

func TestStandbyThatIsNotSynchronousIsFound(t *testing.T) {
	s := newServer(t, empty)
	check := func() map[string]postgres.Finding {
		return states(t, s.url("postgres"), postgres.Options{}, 2)
	}
	wantState(t, check(), "standby", postgres.Note, "there is no standby")
	newServer(t, copyOf(s, "one"))
	s.until("EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
	wantState(t, check(), "standby", postgres.Unsafe, "none of the standbys (1) is synchronous")

	s.exec("CREATE ROLE stranger LOGIN")
	hidden := states(t, strings.Replace(s.url("postgres"), "keystile@", "stranger@", 1), postgres.Options{}, 2)
	wantState(t, hidden, "standby", postgres.Unknown, "pg_read_all_stats")

	s.exec("ALTER SYSTEM SET synchronous_standby_names = 'somebody'", "SELECT pg_reload_conf()")
	s.until("current_setting('synchronous_standby_names') = 'somebody'")
	wantState(t, check(), "standby", postgres.Unsafe, "every write waits")
	s.exec("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'", "SELECT pg_reload_conf()")
	s.until("EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'quorum')")
	wantState(t, check(), "standby", postgres.Note, "one synchronous standby")
	newServer(t, copyOf(s, "two"))
	s.until("2 = (SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum')")
	all := check()
	wantState(t, all, "standby", postgres.Safe, "2 standbys")
	wantState(t, all, "synchronous_commit", postgres.Safe)

	s.exec("ALTER ROLE keystile SET synchronous_commit = local")
	wantState(t, check(), "synchronous_commit", postgres.Unsafe, "no write waits for the standby")
	s.exec("ALTER ROLE keystile SET synchronous_commit = remote_write")
	wantState(t, check(), "synchronous_commit", postgres.Note, "both machines")
}

func TestClocksAreJudgedByHowFarTheyAreApart(t *testing.T) {
	for ahead, want := range map[time.Duration]postgres.State{
		0: postgres.Safe, time.Second: postgres.Safe, -2 * time.Second: postgres.Note, 5 * time.Second: postgres.Note,
		6 * time.Second: postgres.Unsafe, -time.Hour: postgres.Unsafe,
	} {
		if got := postgres.JudgeClock(ahead); got.State != want {
			t.Errorf("a database %v ahead is %+v, want %s", ahead, got, want)
		}
	}
}
