package shipper

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage/driver"
)

// UsageStore has rows of usage, whose they are, and how far they were shipped; *storage.Store implements it.
type UsageStore interface {
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
	MarkedUsage(ctx context.Context, hour time.Time, from string) (accounts []string, next string, err error)
	positions
}

const (
	grace   = 5 * time.Minute     // behind its end an hour counts as closed
	watched = 35 * 24 * time.Hour // for how long an hour is looked at for calls that come late
	hourly  = 30 * time.Second    // between two looks

	hoursLease = 5 * time.Minute // in which an hour of a large service is shipped
	behind     = 24 * time.Hour  // that a position stays behind where nobody calls
	shard      = 100_000         // accounts, about, that are held at a time
)

// hours ships usage, an hour at a time.
//
// An hour is shipped five minutes after its end. Calls that come later, from a node that was away, change the
// sum of the hour: for 35 days the hour is then shipped once more, as its next revision. Usage begins with the
// next whole hour after it was turned on.
type hours struct {
	*Follower
	store UsageStore
}

// FollowUsage makes a Follower of usage, of a Config that was checked. Every process that counts has a Marker.
func FollowUsage(store UsageStore, c stream.Config, log *slog.Logger) *Follower {
	f := &Follower{config: c, name: nameOf(c, stream.Usage), store: store, log: log, lease: hoursLease,
		stats: stream.Stats{Stream: stream.Usage}}
	h := &hours{Follower: f, store: store}
	f.next = h.look
	return f
}

// look returns the first closed hour whose calls are not those that were shipped.
func (h *hours) look(ctx context.Context) (piece, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	at, err := h.store.Stream(ctx, h.name)
	if err != nil {
		return nil, 0, err
	}
	now := time.Now()
	closed := driver.Hour(now.Add(-grace))
	if at.Begun.IsZero() { // accounts are marked from now on
		at.Begun = driver.Hour(now).Add(time.Hour)
		at.From = at.Begun
		return func(ctx context.Context) error { return h.save(ctx, &at) }, 0, nil
	}
	from := closed.Add(-watched)
	if at.From.Before(from) {
		from = at.From
	}
	if from.Before(at.Begun) {
		from = at.Begun
	}
	if !from.Before(closed) {
		h.lags(0, time.Time{})
		return nil, hourly, nil
	}
	all, err := h.store.Usage(ctx, driver.UsageQuery{AppID: ledger.By("", ledger.OfService), From: from, To: closed})
	if err != nil {
		return nil, 0, err
	}
	due := slices.DeleteFunc(all, func(c driver.Count) bool { _, same := shippedHour(at, c); return same })
	if len(due) > 0 {
		h.lags(uint64(len(due)), due[0].At.Add(time.Hour))
		return func(ctx context.Context) error { return h.ship(ctx, at, due[0]) }, 0, nil
	}
	h.lags(0, time.Time{})
	if closed.Sub(at.From) >= behind {
		at.From = closed
		return func(ctx context.Context) error { return h.save(ctx, &at) }, 0, nil
	}
	return nil, hourly, nil
}

// shippedHour returns how often an hour was shipped, and whether that was with the same calls.
func shippedHour(at shipping.Position, c driver.Count) (revision int, same bool) {
	i, found := slices.BinarySearchFunc(at.Hours, c.At, func(h shipping.Hour, t time.Time) int { return h.At.Compare(t) })
	if !found {
		return 0, false
	}
	h := at.Hours[i]
	return h.Revision, h.Calls == c.Calls && h.Errors == c.Errors
}

// ship hands all rows of an hour to the target, in as many batches as it takes. A process that is killed
// before it keeps the position ships them again, as the same revision.
func (h *hours) ship(ctx context.Context, at shipping.Position, total driver.Count) error {
	revision, _ := shippedHour(at, total)
	p := &parts{hours: h, hour: total.At, revision: revision + 1}
	n, err := h.eachAccount(ctx, total.At, func(string) {})
	if err != nil {
		return err
	}
	shards := uint32(1 + n/shard)
	for i := range shards {
		if err := p.shard(ctx, i, shards); err != nil {
			return err
		}
	}
	p.add(hourLine{
		Stream: "usage.hour", ID: fmt.Sprintf("%s/%d/%d", total.At.UTC().Format(hour), total.Calls, total.Errors),
		Hour:     total.At.UTC(),
		Revision: p.revision, Rows: p.rows, Calls: total.Calls, Errors: total.Errors, Accounts: p.calls,
	})
	if err := p.flush(ctx); err != nil {
		return err
	}
	if p.calls < total.Calls {
		h.log.WarnContext(ctx, "an hour of usage has calls of accounts that are not known: some process counts without "+
			"shipping usage",
			"hour", total.At, "calls", total.Calls, "known", p.calls)
	}
	done := shipping.Hour{At: total.At, Calls: total.Calls, Errors: total.Errors, Revision: p.revision}
	at.Hours = append(slices.DeleteFunc(slices.Clone(at.Hours), func(s shipping.Hour) bool {
		return s.At.Equal(total.At) || s.At.Before(time.Now().Add(-watched-behind))
	}), done)
	slices.SortFunc(at.Hours, func(a, b shipping.Hour) int { return a.At.Compare(b.At) })
	if next := total.At.Add(time.Hour); next.After(at.From) {
		at.From = next
	}
	return h.save(ctx, &at)
}

// eachAccount calls yield for each account that is marked in an hour, for some several times.
func (h *hours) eachAccount(ctx context.Context, at time.Time, yield func(string)) (n int, err error) {
	for from := ""; ; {
		call, cancel := context.WithTimeout(ctx, storeTime)
		page, next, err := h.store.MarkedUsage(call, at, from)
		cancel()
		if err != nil {
			return n, err
		}
		for _, account := range page {
			yield(account)
		}
		n += len(page)
		if from = next; next == "" {
			return n, nil
		}
	}
}

// parts makes batches of the rows of an hour.
type parts struct {
	*hours
	hour     time.Time
	revision int

	batch stream.Batch
	part  int
	rows  int
	calls int64
}

// shard adds the rows of one of several parts of all accounts.
func (p *parts) shard(ctx context.Context, i, of uint32) error {
	some := map[string]bool{}
	_, err := p.eachAccount(ctx, p.hour, func(account string) {
		sum := fnv.New32a()
		sum.Write([]byte(account))
		if sum.Sum32()%of == i {
			some[account] = true
		}
	})
	if err != nil {
		return err
	}
	all := make([]string, 0, len(some))
	for account := range some {
		all = append(all, account)
	}
	slices.Sort(all)
	for accounts := range slices.Chunk(all, driver.MaxMeters/len(shippedBy)) {
		if err := p.accounts(ctx, accounts); err != nil {
			return err
		}
	}
	return nil
}

// shippedBy are the dimensions of a row. Users are not among them.
var shippedBy = []struct {
	name string
	ledger.Dimension
}{{"product", ledger.ByProduct}, {"tool", ledger.ByTool}}

// accounts adds the rows of some accounts.
func (p *parts) accounts(ctx context.Context, accounts []string) error {
	type of struct{ account, by string }
	ids := map[string]of{}
	var asked []string
	for _, account := range accounts {
		for _, by := range shippedBy {
			id := ledger.By(account, by.Dimension)
			ids[id] = of{account, by.name}
			asked = append(asked, id)
		}
	}
	call, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	rows, err := p.store.UsageOf(call, asked, driver.UsageQuery{From: p.hour, To: p.hour.Add(time.Hour)})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), cmp.Compare(a.Product, b.Product))
	})
	for _, row := range rows {
		is := ids[row.AppID]
		p.add(lineOf(row, is.account, is.by))
		p.rows++
		if is.by == "product" {
			p.calls += row.Calls
		}
		if len(p.batch.Lines) >= p.config.MaxBytes {
			if err := p.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineOf describes a row. Its sums only grow, so two lines with one id say the same.
func lineOf(row driver.Count, account, by string) usageLine {
	clientID, _, _ := strings.Cut(account, " ") // behind it a user, of an application that nobody registered
	return usageLine{
		Stream: stream.Usage, ID: fmt.Sprintf("%s/%s/%s/%s/%d/%d", row.At.UTC().Format(hour), account, by, row.Product,
			row.Calls,
			row.Errors),
		Hour: row.At.UTC(), Account: account, ClientID: clientID, By: by, Name: row.Product, Calls: row.Calls,
		Errors: row.Errors,
	}
}

func (p *parts) add(line any) {
	p.batch.Lines = appendLine(p.batch.Lines, line)
	p.batch.Count++
}

// flush ships what was added.
func (p *parts) flush(ctx context.Context) error {
	if p.batch.Count == 0 {
		return nil
	}
	p.part++
	p.batch.Stream = stream.Usage
	p.batch.Key = fmt.Sprintf("%s/%s-%03d-%05d", stream.Usage, p.hour.UTC().Format("2006/01/02/15"), p.revision, p.part)
	if err := p.put(ctx, p.batch); err != nil {
		return err
	}
	p.batch = stream.Batch{}
	return nil
}
