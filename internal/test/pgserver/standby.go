package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// Follow makes the server, which does not run, a standby of the one at an address (host=... port=...),
// and starts it. It is known there by its name. The data of the server is thrown away.
func (s *Server) Follow(ctx context.Context, primary, name string) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	out, err := s.command(ctx, "pg_basebackup", "-D", s.data(), "-d", primary+" user=keystile", "-X", "stream", "-c",
		"fast").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	return s.stream(ctx, primary, name)
}

// Rewind makes the server, which was a primary and has ended, a standby of the one that has taken its
// place: what it wrote that the other has not is taken back.
func (s *Server) Rewind(ctx context.Context, now *Server, primary, name string) error {
	if err := now.checkpoint(ctx); err != nil {
		return err
	}
	source := fmt.Sprintf("--source-server=host=%s port=%d user=keystile dbname=postgres", now.place.Host, now.place.Port)
	out, err := s.command(ctx, "pg_rewind", "--target-pgdata="+s.data(), source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_rewind: %w\n%s", err, out)
	}
	return s.stream(ctx, primary, name)
}

// stream starts a copy as a standby. Settings that ALTER SYSTEM has made at the other server are not for this
// one.
func (s *Server) stream(ctx context.Context, primary, name string) error {
	settings := fmt.Sprintf("primary_conninfo = '%s user=keystile application_name=%s'\n"+
		"recovery_target_timeline = 'latest'\n", primary, name)
	err := errors.Join(
		os.WriteFile(filepath.Join(s.data(), "postgresql.auto.conf"), []byte(settings), 0o600),
		os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o600),
	)
	if err == nil && s.who != nil {
		for _, file := range []string{"postgresql.auto.conf", "standby.signal"} {
			err = errors.Join(err, os.Chown(filepath.Join(s.data(), file), int(s.who.Uid), int(s.who.Gid)))
		}
	}
	if err != nil {
		return err
	}
	return s.Start(ctx)
}

// Promote makes a standby the primary, and waits until it is.
func (s *Server) Promote(ctx context.Context) error {
	return s.Ask(ctx, nil, "SELECT pg_promote(true, 60)")
}

// checkpoint writes down which timeline the server is on. Until then Rewind would take it for a server
// that the other has only fallen behind.
func (s *Server) checkpoint(ctx context.Context) error { return s.Ask(ctx, nil, "CHECKPOINT") }

// Demand has answers wait for a standby of this name; "": for none.
func (s *Server) Demand(ctx context.Context, name string) error {
	return errors.Join(s.Ask(ctx, nil, fmt.Sprintf("ALTER SYSTEM SET synchronous_standby_names = '%s'", name)),
		s.Ask(ctx, nil, "SELECT pg_reload_conf()"))
}

// Synchronous waits until a standby has all that was answered before, and answers wait for it.
func (s *Server) Synchronous(ctx context.Context) error {
	const follows = `SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')`
	if err := s.await(ctx, follows); err != nil {
		return err
	}
	time.Sleep(reloads) // a process that has not read the setting yet answers by itself
	var last string
	if err := s.Ask(ctx, &last, "SELECT pg_current_wal_flush_lsn()::text"); err != nil {
		return err
	}
	return s.await(ctx, follows+fmt.Sprintf(" AND flush_lsn >= '%s'", last))
}

// reloads is the time within which all processes of a server have read its settings.
const reloads = 200 * time.Millisecond

// await waits until a statement answers true.
func (s *Server) await(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var holds bool
		err := s.Ask(ctx, &holds, statement)
		if err == nil && holds {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not come to hold: %w", statement, errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Ask runs a statement, and reads the one value of its answer if it is wanted.
func (s *Server) Ask(ctx context.Context, into any, statement string) error {
	c, err := database.Open(ctx, s.URL())
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if into == nil {
		_, err = c.Exec(ctx, statement)
		return err
	}
	return c.QueryRow(ctx, statement).Scan(into)
}
