package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage/event"
)

// Keeper removes what is too old, or too much, from the trail of a running service. Of several
// processes on one store one does it at a time; where two do, the checkpoint decides.
//
// Where a trail is shipped elsewhere (package gateway/stream), it keeps records that are not shipped yet, until
// there is twice as much as its limits allow, or they are twice as old; then it removes the oldest and logs
// that they are nowhere else. A removal by hand does not wait.
type Keeper struct {
	Store   KeeperStore
	Keep    time.Duration // 0: for ever
	Bytes   int64         // of records; 0: any number
	Reached func(now time.Time) time.Time
	Note    func(context.Context, Event) error // puts on the trail what is removed, before it is
	Log     *slog.Logger

	// Shipped returns the last Seq that has been shipped. Records behind it wait until they are, for as
	// long again and as much again as Keep and Bytes allow. nil: nothing waits.
	Shipped func(ctx context.Context) (through uint64, err error)
}

// KeeperStore has a trail and leases; *storage.Store implements it.
type KeeperStore interface {
	Prunable
	lease.Store
}

const (
	everyTurn = time.Minute
	nextPiece = time.Second // after a piece that did not end it
	piece     = 20_000      // records
	ripe      = time.Hour   // how much too old the oldest record is before it is removed: not one each minute
)

// Run removes piece by piece until ctx ends. It logs a failure, once while it stays the same, and
// tries again.
func (k Keeper) Run(ctx context.Context) {
	task := lease.New(k.Store, "audit", everyTurn+everyTurn/2)
	defer k.release(ctx, task)
	said := ""
	for {
		more := false
		mine, err := task.Mine(ctx)
		if mine {
			more, err = k.Turn(ctx)
		}
		text := ""
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrRaced) {
			if text = err.Error(); text != said {
				k.Log.ErrorContext(ctx, "old audit records are not removed", "err", err)
			}
		}
		said = text
		wait := everyTurn
		if more {
			wait = nextPiece
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// release leaves the trail to another process. Where that fails, it takes a little longer.
func (k Keeper) release(ctx context.Context, task *lease.Task) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), nextPiece)
	defer cancel()
	if err := task.Release(last); err != nil {
		k.Log.WarnContext(last, "the next process waits until it removes old audit records", "err", err)
	}
}

// plan looks for records that may be removed. Records that are not shipped may be, once there is twice as much
// as the limits allow.
func (k Keeper) plan(ctx context.Context, limits *Limits) (p Plan, unshipped bool, err error) {
	if k.Shipped == nil {
		p, err = PlanPrune(ctx, k.Store, *limits)
		return p, false, err
	}
	through, err := k.Shipped(ctx)
	if err != nil {
		return Plan{}, false, err
	}
	capped := *limits
	capped.Upto = &through
	if p, err = PlanPrune(ctx, k.Store, capped); err != nil || p.Records > 0 || !p.held {
		return p, false, err
	}
	if limits.Bytes *= 2; k.Keep > 0 {
		limits.Before = limits.Before.Add(-k.Keep)
	}
	p, err = PlanPrune(ctx, k.Store, *limits)
	return p, true, err
}

// Turn removes one piece, if there is one to remove, and whatever an earlier turn could not.
func (k Keeper) Turn(ctx context.Context) (more bool, err error) {
	if _, err := Finish(ctx, k.Store); err != nil {
		return false, err
	}
	now := k.Reached(time.Now())
	limits := Limits{Now: now, Bytes: k.Bytes, Most: piece}
	if k.Keep > 0 {
		limits.Before = now.Add(-k.Keep)
	}
	plan, unshipped, err := k.plan(ctx, &limits)
	if err != nil || plan.Records == 0 {
		return false, err
	}
	if young := !plan.oldest.Before(limits.Before.Add(-ripe)); k.Keep > 0 && young && plan.oldOnly {
		return false, nil
	}
	if err := k.Note(ctx, Event{Kind: event.Admin, Detail: "audit prune by the service: " + plan.String()}); err != nil {
		return false, fmt.Errorf("the audit trail could not be written, so nothing is removed from it: %w", err)
	}
	removed, err := plan.Do(ctx, k.Store, now)
	if err != nil {
		return false, err
	}
	if unshipped {
		k.Log.ErrorContext(ctx, "audit records were removed that are nowhere else, because twice as many waited as "+
			"audit.keep and audit.max_size allow: see why they are not shipped", "through", plan.Through)
	}
	level := slog.LevelInfo
	if plan.Broken > 0 {
		level = slog.LevelWarn
	}
	k.Log.Log(ctx, level, "old audit records were removed", "records", removed, "through", plan.Through, "until",
		plan.Last, "breaks", plan.Broken)
	return plan.Full, nil
}
