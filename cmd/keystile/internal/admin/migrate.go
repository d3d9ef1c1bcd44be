package admin

import (
	"context"
	"io"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

// Migration is one step that the tables of a database take, once.
type Migration struct {
	Number int
	Name   string
	At     time.Time // when it was taken; zero: not yet
}

// Migrations brings the tables of a database to the version of this program.
type Migrations struct {
	Status func(context.Context) ([]Migration, error)
	Up     func(context.Context) ([]Migration, error)       // returns the steps it took
	SQL    func(context.Context) (script string, err error) // what Up would run, for an administrator
}

func migrateLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage migrate", Words: []string{"status|up|sql"}, Summary: "Show or take the steps of a database's tables",
		Details: "The steps bring the tables to this version. Starting the service takes them as well, unless the\n" +
			"address of the storage says migrate=never.\n" +
			"A step leaves tables that the version before can use, so nodes are replaced one after another.\n" +
			"sql prints what up would run, a transaction for each step, for an administrator to read and run.",
		Examples: []string{"keystile storage migrate status --json",
			"keystile storage migrate sql | psql --single-transaction"},
		Flags: common(),
		Run:   func(ctx context.Context, call cli.Call) error { return migrate(ctx, call, opener) },
	}
}

func migrate(ctx context.Context, call cli.Call, opener Opener) error {
	_, kind, err := opener.kind(call)
	if err != nil {
		return err
	}
	if kind.Migrations == nil {
		return kind.lacks("storage migrate")
	}
	switch what := call.Words[0]; what {
	case "sql":
		script, err := kind.Migrations.SQL(ctx)
		if err != nil {
			return err
		}
		_, err = io.WriteString(call.Stdout, script)
		return err
	case "status":
		steps, err := kind.Migrations.Status(ctx)
		return tellSteps(call, "steps", steps, err)
	case "up":
		taken, err := kind.Migrations.Up(ctx)
		return tellSteps(call, "taken", taken, err)
	default:
		return cli.Usage("%q: give status, up or sql", what)
	}
}

func tellSteps(call cli.Call, name string, steps []Migration, err error) error {
	if err != nil {
		return err
	}
	missing, list := 0, []answer{}
	for _, s := range steps {
		at := any(nil)
		if s.At.IsZero() {
			missing++
		} else {
			at = s.At.UTC().Format(time.RFC3339)
		}
		list = append(list, answer{{"step", s.Number}, {"name", s.Name}, {"at", at}})
	}
	return say(call, answer{{name, list}, {"missing", missing}})
}
