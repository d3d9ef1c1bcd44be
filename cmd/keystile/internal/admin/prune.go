package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/audit"
)

var pruneCommands = []command{
	{
		name: "audit prune", summary: "Remove the oldest records of the audit trail", do: pruneTrail, acts: true,
		wait: time.Hour,
		details: "It works while the server runs or not. A running server does this by itself, as audit.keep and " +
			"audit.max_size say. With --dry-run it says\n" +
			"what would be removed, and removes nothing: begin with that, and with keystile audit export, because\n" +
			"what is removed is gone. A checkpoint sealed with the master key stands for the removed records, so\n" +
			"that audit verify still proves all that is there. If it is interrupted, run it again.",
		examples: []string{"keystile audit prune --keep 400d --dry-run", "keystile audit prune --before 2026-01-01"},
		flags: []cli.Flag{
			{Name: "before", Value: "TIME", Help: "remove what was noted before, such as 2026-01-01 or 2026-01-01T15:00:00Z"},
			{Name: "keep", Value: "DURATION", Help: "remove what is older, such as 400d"},
			{Name: "dry-run", Help: "say what would be removed, and remove nothing"},
		},
	},
}

func pruneTrail(ctx context.Context, target Target, args cli.Args) (output, error) {
	now := target.Store.Reached(time.Now())
	before, err := prunedBefore(args, now)
	if err != nil {
		return nil, err
	}
	plan, err := audit.PlanPrune(ctx, target.Store, audit.Limits{Now: now, Before: before})
	if err != nil {
		return nil, err
	}
	if args.On("dry-run") {
		return append(answer{{"would_remove", int64(plan.Records)}}, described(plan, before)...), nil
	}
	left, err := audit.Finish(ctx, target.Store)
	if err != nil {
		return nil, err
	}
	if plan.Records == 0 {
		return answer{{"removed", int64(left)}, {"before", when(before)}}, nil
	}
	if err := target.Recorder.Note(ctx, target.By, admin.Act{What: "audit prune", On: "trail",
		Changes: []string{plan.String()}}); err != nil {
		return nil, fmt.Errorf("the audit trail could not be written, so nothing was removed from it: %w", errors.Unwrap(err))
	}
	removed, err := plan.Do(ctx, target.Store, now)
	if err != nil {
		return nil, err
	}
	return append(answer{{"removed", int64(removed + left)}}, described(plan, before)...), nil
}

// prunedBefore reads the flags.
func prunedBefore(args cli.Args, now time.Time) (time.Time, error) {
	if (args.Get("before") == "") == (args.Get("keep") == "") {
		return time.Time{}, cli.Usage("say what to remove: --before TIME or --keep DURATION, such as --keep 400d")
	}
	if text := args.Get("keep"); text != "" {
		keep, err := config.ParseDays(text)
		if err != nil {
			return time.Time{}, cli.Usage("--keep: %v", err)
		}
		return now.Add(-keep), nil
	}
	before, err := moment(args.Get("before"))
	if err == nil && before.After(now) {
		err = cli.Usage("--before: %s has not come yet: by what the store has seen it is %s", when(before), when(now))
	}
	return before, err
}

func described(plan audit.Plan, before time.Time) answer {
	return answer{
		{"before", when(before)}, {"through_seq", int64(plan.Through)}, {"from", when(plan.First)}, {"to", when(plan.Last)},
		{"bytes", plan.Bytes}, {"breaks", int64(plan.Broken)},
	}
}
