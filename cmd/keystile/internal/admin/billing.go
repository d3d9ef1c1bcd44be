package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

var billingCommands = []command{
	{
		name: "billing orders", summary: "List the orders of other tiers", do: listOrders,
		details:  "Those that wait for you are pending or contact.",
		examples: []string{"keystile billing orders --status pending"},
		flags: []cli.Flag{
			{Name: "status", Value: "STATUS", Help: "pending, contact, approved, rejected or canceled"},
			{Name: "app", Value: "CLIENT_ID", Help: "of one application"},
		},
	},
	{
		name: "billing approve", words: []string{"ORDER"}, summary: "Let an order take effect", do: approveOrder, acts: true,
		details: "More is given at once, and less at the end of what is paid for. white_label lasts a year.",
		examples: []string{"keystile billing approve or20261121150405abcdefghij",
			"keystile billing approve or20261121150405abcdefghij --until 2028-01-01"},
		flags: []cli.Flag{untilFlag},
	},
	{
		name: "billing reject", words: []string{"ORDER"}, summary: "Refuse an order", do: rejectOrder, acts: true,
		examples: []string{"keystile billing reject or20261121150405abcdefghij \\\n" +
			"    --reason 'the invoice of March is open'"},
		flags: []cli.Flag{{Name: "reason", Value: "TEXT", Help: "why, for the owner to read"}},
	},
	{
		name: "billing settlements", summary: "Show what applications owe for a month", do: listSettlements,
		details: "It is made of the usage ledger and the approved orders alone. Amounts are in fen, hundredths\n" +
			"of a yuan. A month that is not over is not final.",
		examples: []string{"keystile billing settlements --month 2026-11",
			"keystile billing settlements --app ksabcdefghij0123456789 --json"},
		flags: []cli.Flag{
			{Name: "month", Value: "MONTH", Help: "such as 2026-11, in UTC (the current one)"},
			{Name: "app", Value: "CLIENT_ID", Help: "of one application, one that was removed too"},
		},
	},
	{
		name: "tier set", words: []string{"CLIENT_ID", "TIER"}, summary: "Give an application a tier at once", do: setTier,
		acts: true,
		details: "TIER is free, white_label or enterprise. An order of its that waits is canceled. Unlike an\n" +
			"order it costs nothing.",
		examples: []string{"keystile tier set ksabcdefghij0123456789 enterprise",
			"keystile tier set ksabcdefghij0123456789 white_label --until 2027-11-21"},
		flags: []cli.Flag{untilFlag},
	},
}

var untilFlag = cli.Flag{Name: "until", Value: "DATE", Help: "when it ends and is free again, such as 2027-11-21"}

func listOrders(ctx context.Context, target Target, args cli.Args) (output, error) {
	q := storage.OrderQuery{Status: args.Get("status"), AppID: args.Get("app")}
	known := []string{storage.OrderPending, storage.OrderContact, storage.OrderApproved, storage.OrderRejected,
		storage.OrderCanceled}
	if q.Status != "" && !slices.Contains(known, q.Status) {
		return nil, cli.Usage("--status %s: it is one of %s", q.Status, strings.Join(known, ", "))
	}
	all, err := everything(func(after string) ([]storage.Order, string, error) {
		return target.Store.Orders(ctx, q, after, driver.Page)
	})
	return of(list{empty: "no orders", columns: []string{"order_id", "client_id", "from_tier", "tier", "status", "price",
		"created_at", "effective_at", "expires_at", "reason"}}, all, tellOrder), err
}

// tellOrder tells of an order what the API does, by the same names.
func tellOrder(o storage.Order) answer {
	return answer{
		{"order_id", o.ID}, {"client_id", o.AppID}, {"from_tier", o.From}, {"tier", o.Tier}, {"status", o.Status},
		{"price", yearly{o.AmountFen, "CNY", "year"}}, {"effective_at", when(o.EffectiveAt)},
		{"expires_at", when(o.ExpiresAt)},
		{"created_at", when(o.CreatedAt)}, {"decided_at", when(o.DecidedAt)}, {"reason", o.Reason},
		{"owner", o.Owner}, {"by", o.By}, {"decided_by", o.DecidedBy},
	}
}

// yearly is the price of a tier for a year.
type yearly struct {
	Amount   int64  `json:"amount"` // in fen
	Currency string `json:"currency"`
	Period   string `json:"period"`
}

func (y yearly) String() string {
	return fmt.Sprintf("%d.%02d %s a %s", y.Amount/100, y.Amount%100, y.Currency, y.Period)
}

func approveOrder(ctx context.Context, target Target, args cli.Args) (output, error) {
	until, err := untilOf(args)
	if err != nil {
		return nil, err
	}
	return decided(args.Words[0])(target.apps().Approve(ctx, target.By, args.Words[0], until))
}

func rejectOrder(ctx context.Context, target Target, args cli.Args) (output, error) {
	return decided(args.Words[0])(target.apps().Reject(ctx, target.By, args.Words[0], args.Get("reason")))
}

// decided tells what became of an order, or why nothing did.
func decided(id string) func(storage.Order, error) (output, error) {
	return func(o storage.Order, err error) (output, error) {
		switch {
		case errors.Is(err, storage.ErrNotFound) && o.ID != "":
			return nil, fmt.Errorf("the application of order %q was removed", id)
		case errors.Is(err, storage.ErrNotFound):
			return nil, fmt.Errorf("there is no order %q; list them with: keystile billing orders", id)
		case err != nil:
			return nil, err
		}
		return tellOrder(o), nil
	}
}

// setTier gives a tier without an order that anybody has made. The books say so.
func setTier(ctx context.Context, target Target, args cli.Args) (output, error) {
	until, err := untilOf(args)
	if err != nil {
		return nil, err
	}
	_, app, err := target.apps().SetTier(ctx, target.By, args.Words[0], args.Words[1], until)
	if err != nil {
		return nil, unknownApp(args.Words[0], err)
	}
	return answer{{"client_id", app.ID}, {"tier", app.TierAt(time.Now())}, {"until", when(app.TierUntil(time.Now()))}}, nil
}

// untilOf reads a day, which it ends before.
func untilOf(args cli.Args) (time.Time, error) {
	text := args.Get("until")
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, cli.Usage("--until %s: it is a day such as 2027-11-21", text)
	}
	return at, nil
}

func listSettlements(ctx context.Context, target Target, args cli.Args) (output, error) {
	month, err := billing.ParseMonth(args.Get("month"), time.Now())
	if err != nil {
		return nil, cli.Usage("--month: %v", err)
	}
	all, err := settled(ctx, target, args.Get("app"))
	if err != nil {
		return nil, err
	}
	said := list{empty: "no applications that owe anything"}
	for _, app := range all {
		s, err := target.Billing.Settle(ctx, app, month)
		if err != nil {
			return nil, err
		}
		said.rows = append(said.rows, tellSettlement(s))
	}
	return said, nil
}

func tellSettlement(s billing.Settlement) answer {
	return answer{
		{"client_id", s.ClientID}, {"name", s.Name}, {"month", s.Month}, {"final", s.Final},
		{"tiers", append(settledTiers{}, s.Tiers...)},
		{"products", append(settledCalls{}, s.Products...)}, {"calls", s.Calls}, {"overage", s.Overage},
		{"subscription_fen", s.Subscription}, {"overage_fen", s.OverageFen}, {"total_fen", s.TotalFen},
	}
}

type settledTiers []billing.SettledTier

func (all settledTiers) String() string {
	var names []string
	for _, t := range all {
		names = append(names, t.Tier)
	}
	return strings.Join(names, ", ")
}

type settledCalls []billing.SettledCall

func (all settledCalls) String() string {
	var texts []string
	for _, c := range all {
		texts = append(texts, fmt.Sprintf("%s %d", c.Product, c.Calls))
	}
	return strings.Join(texts, ", ")
}

// settled returns an application, or all there are and were.
func settled(ctx context.Context, target Target, id string) ([]storage.App, error) {
	if id != "" {
		app, err := target.Billing.App(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, fmt.Errorf("there is and was no application %q; list them with: keystile app list", id)
		}
		return []storage.App{app}, err
	}
	all, err := everything(func(from string) ([]storage.App, string, error) {
		return target.Store.Apps(ctx, "", from, driver.Page)
	})
	closed, failed := everything(func(from string) ([]storage.App, string, error) {
		return target.Store.ClosedApps(ctx, "", from, driver.Page)
	})
	return append(all, closed...), cmp.Or(err, failed)
}
