package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const noTokenLog = "KEYSTILE_TOKEN_LOG=false"

// logged runs a service with a token log, has it replace a refresh token, and kills it. It returns the first token of
// the family, which is spent, and the last one.
func logged(t *testing.T, data string) (spent, last string) {
	t.Helper()
	s := serveIn(t, data)
	first := redeem(t, s.service, authorize(t, s.service), 200)
	next := refresh(t, s.service, first.RefreshToken, 200)
	s.Process.Kill()
	<-s.child.ended
	if _, err := os.Stat(filepath.Join(data, "keystile.db.wal")); err != nil {
		t.Fatal("the killed service has left no log: ", err)
	}
	return first.RefreshToken, next.RefreshToken
}

func terminate(s server) {
	s.Process.Signal(syscall.SIGTERM)
	<-s.child.ended
}

func TestTokenLogSurvivesAKillUnderAnySetting(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, last := logged(t, data)
	s := serveIn(t, data, noTokenLog) // without a log, which is taken in all the same
	last = refresh(t, s.service, last, 200).RefreshToken
	terminate(s)
	if _, err := os.Stat(filepath.Join(data, "keystile.db.wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a service that has stopped leaves a log: %v", err)
	}
	again := serveIn(t, data)
	refresh(t, again.service, last, 200)
}

func TestTokenThatIsSpentInALogStaysSpentAfterAKill(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	spent, _ := logged(t, data)
	s := serveIn(t, data)
	refresh(t, s.service, spent, 400)
}

func TestRestorePutsALogAwayWithItsDatabase(t *testing.T) {
	t.Parallel()
	data, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup.db")
	s := serveIn(t, data)
	kept := redeem(t, s.service, authorize(t, s.service), 200)
	must(t, "backup", backup, "--data", data)
	terminate(s)
	logged(t, data)
	must(t, "restore", backup, "--data", data)
	again := serveIn(t, data)
	refresh(t, again.service, kept.RefreshToken, 200)
}

func TestTokenLogOfADatabaseThatHasNoneIsRefused(t *testing.T) {
	t.Parallel()
	c := spawn(t, []string{"KEYSTILE_TOKEN_LOG=true"}, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0",
		"--storage-url", "postgres://keystile@127.0.0.1:9/keystile")
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		t.Fatal("it starts")
	}
	c.log.Find(t, c.ended, `(token_log: .* has no log of tokens)`)
}
