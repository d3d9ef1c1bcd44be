package pgserver

import (
	"testing"

	"github.com/keystile/keystile/internal/test/database"
)

// Commits are there after every kill, and nothing of the server stays when it is closed.
func TestCommittedWritesSurviveEveryKill(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	if Installed() == "" {
		t.Skip("no PostgreSQL is installed")
	}
	s, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	use := func() (is int) {
		t.Helper()
		c, err := database.Open(t.Context(), s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		if _, err := c.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS x (n int)"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(t.Context(), "INSERT INTO x VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM x").Scan(&is); err != nil {
			t.Fatal(err)
		}
		rows++
		return is
	}
	use()
	for range 2 {
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := database.Open(t.Context(), s.URL()); err == nil {
			t.Error("a killed server answers")
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if is := use(); is != rows {
			t.Errorf("after a kill there are %d rows, want %d", is, rows)
		}
	}
	open, err := database.Open(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.KillOne(t.Context(), func(n int) int { return n - 1 }); err != nil {
		t.Fatal(err)
	}
	if err := open.Ping(t.Context()); err == nil {
		t.Error("the connection of a killed process works")
	}
	if is := use(); is != rows {
		t.Errorf("after the kill of one process there are %d rows, want %d", is, rows)
	}
	children := s.children()
	if err := s.Close(); err != nil || len(children) == 0 {
		t.Errorf("close = %v, with %d processes", err, len(children))
	}
	for _, pid := range children {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}
