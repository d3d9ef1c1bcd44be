package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// Postgres returns the storage of package storage/postgres: one database for several nodes.
func Postgres() Storage {
	return Storage{
		Name: "postgres", Schemes: []string{"postgres", "postgresql"},
		Open: func(context.Context, string) (driver.Backend, error) {
			return nil, errors.New("this storage has an address: give it by --storage-url")
		},
		OpenAt: openPostgres,
		Instead: "the store is in PostgreSQL: use pg_dump, or base backups with an archive of its log (pg_basebackup), and " +
			"keep the master key beside them; keystile storage copy brings it into a data folder of its own",
		Gauges: func(b driver.Backend) []Gauge {
			s := b.(*postgres.Store)
			gauge := func(name, help string, value func(postgres.Stats) float64) Gauge {
				return Gauge{"keystile_storage_" + name, help, func() float64 { return value(s.Stats()) }}
			}
			return []Gauge{
				gauge("connections", "Connections to the database.", func(s postgres.Stats) float64 { return float64(s.Conns) }),
				gauge("connections_in_use", "Connections that are at work.",
					func(s postgres.Stats) float64 { return float64(s.InUse) }),
				gauge("connections_max", "Connections that there may be.",
					func(s postgres.Stats) float64 { return float64(s.Max) }),
				gauge("connection_waits", "Calls that had to wait for a connection.",
					func(s postgres.Stats) float64 { return float64(s.Waits) }),
				gauge("connection_wait_seconds", "How long calls have waited for a connection, in all.",
					func(s postgres.Stats) float64 { return s.Waited.Seconds() }),
			}
		},
		Migrations: postgresMigrations,
		Findings:   postgresFindings,
		ReadAt: func(ctx context.Context, address string, w Watch) (driver.Backend, error) {
			return postgres.OpenReadOnly(ctx, address, postgres.Options{Log: w.Log, Observe: w.Observe})
		},
	}
}

// maxClockAhead limits how far the clocks of a node and of its database may be apart.
const maxClockAhead = 5 * time.Second

func openPostgres(ctx context.Context, address string, w Watch) (driver.Backend, error) {
	s, err := postgres.Open(ctx, address, postgres.Options{Log: w.Log, Observe: w.Observe})
	if err != nil {
		return nil, err
	}
	ahead, err := s.ClockAhead(ctx)
	if err == nil {
		err = checkClocks(ahead)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkClocks refuses a database whose clock is far from this machine's: what one node has issued
// would be of the future, or have ended, at another.
func checkClocks(ahead time.Duration) error {
	if ahead.Abs() > maxClockAhead {
		return fmt.Errorf("the clock of this machine and that of the database are %s apart: set both by NTP",
			ahead.Abs().Round(time.Second))
	}
	return nil
}

func postgresMigrations(address string) Migrations {
	dsn, o, wrong := postgres.ParseURL(address, postgres.Options{})
	steps := func(list []postgres.Step, err error) (all []Migration, _ error) {
		for _, s := range list {
			all = append(all, Migration{Number: s.Number, Name: s.Name, At: s.At})
		}
		return all, err
	}
	return Migrations{
		Status: func(ctx context.Context) ([]Migration, error) {
			if wrong != nil {
				return nil, wrong
			}
			return steps(postgres.Status(ctx, dsn, o))
		},
		Up: func(ctx context.Context) ([]Migration, error) {
			if wrong != nil {
				return nil, wrong
			}
			return steps(postgres.Migrate(ctx, dsn, o))
		},
		SQL: func(ctx context.Context) (string, error) {
			if wrong != nil {
				return "", wrong
			}
			done, err := postgres.Status(ctx, dsn, o)
			taken := 0
			for _, s := range done {
				if !s.At.IsZero() {
					taken = s.Number
				}
			}
			return postgres.Script(o.Schema, taken), err
		},
	}
}

func postgresFindings(ctx context.Context, address string, nodes int) (all []Finding) {
	dsn, o, err := postgres.ParseURL(address, postgres.Options{})
	if err != nil {
		return []Finding{{Name: "connection", State: string(postgres.Unsafe), Says: err.Error(), Do: "mend storage_url"}}
	}
	for _, f := range postgres.Check(ctx, dsn, o, nodes) {
		all = append(all, Finding{Name: f.Name, State: string(f.State), Says: f.Says, Do: f.Do})
	}
	return all
}
