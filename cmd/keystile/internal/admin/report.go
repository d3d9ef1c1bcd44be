package admin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/legacy/migration"
)

// reportDays is the number of days that a report covers.
const reportDays = 30

func reportLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "report migration", Summary: "Show who would break without the old endpoints, or with PKCE alone",
		Details: "It counts, by application and day, who used the old endpoints (with the plain appkey, a signature or\n" +
			"nothing) and who redeemed codes without PKCE, in the last 30 days. The audit trail is what it reads.",
		Examples: []string{"keystile report migration", "keystile report migration --json"},
		Flags:    common(),
		Run:      func(ctx context.Context, call cli.Call) error { return reportMigration(ctx, call, opener) },
	}
}

func reportMigration(ctx context.Context, call cli.Call, opener Opener) error {
	var report migration.Report
	now := time.Now().UTC()
	err := opener.trail(ctx, call, func(r audit.Archive) (err error) {
		report, err = migration.Read(ctx, r, now.AddDate(0, 0, -reportDays), now)
		return err
	})
	if err != nil {
		return err
	}
	if call.On("json") {
		return json.NewEncoder(call.Stdout).Encode(report)
	}
	return report.Render(call.Stdout)
}
