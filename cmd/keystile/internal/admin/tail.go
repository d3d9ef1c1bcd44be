package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/audit/search"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// tailEvery separates two looks for new events, which are stored each second.
const tailEvery = time.Second

func tailTrail(ctx context.Context, call cli.Call, opener Opener) error {
	n, err := amount(call, "lines", 0, 20)
	if err != nil {
		return err
	}
	q := queryOf(call)
	return opener.searching(ctx, call, func(s searcher, served bool) (err error) {
		if q.User, err = ofPerson(ctx, call, s); err != nil {
			return err
		}
		newest, _, err := some(ctx, s, event.Query{}, 1)
		if err != nil {
			return err
		}
		end := uint64(0)
		if len(newest) > 0 {
			end = newest[0].Seq
		}
		if q.Before = end + 1; n > 0 && end > 0 {
			last, _, err := some(ctx, s, q, n)
			if err != nil {
				return err
			}
			slices.Reverse(last)
			if err := printEvents(call, last); err != nil {
				return err
			}
		}
		if !call.On("follow") {
			return nil
		}
		if !served {
			return errors.New("no server runs here, so nothing is noted that could be followed; start it, or leave out --follow")
		}
		q.Before = 0
		return follow(ctx, call, s, q, end)
	})
}

// follow prints what is noted behind a Seq, until ctx ends.
func follow(ctx context.Context, call cli.Call, s searcher, q event.Query, after uint64) error {
	fits, err := search.Matcher(q)
	if err != nil {
		return plain(err)
	}
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		records, err := s.Records(ctx, after, driver.Page)
		if ctx.Err() != nil {
			return nil // that is how it ends
		}
		if err != nil {
			return err
		}
		var fresh []event.Entry
		for _, r := range records {
			after = r.Seq
			if e, err := audit.Decode(r); err == nil && fits(&e) {
				fresh = append(fresh, event.Entry{Seq: r.Seq, Event: e})
			}
		}
		if err := printEvents(call, fresh); err != nil {
			return err
		}
		if len(records) == driver.Page {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// printEvents prints a line for each event, without the empty cells.
func printEvents(call cli.Call, all []event.Entry) error {
	for _, e := range all {
		text, err := line(e)
		if err != nil {
			return err
		}
		if !call.On("json") {
			var cells []string
			for _, f := range cellsOf(e)[1:] {
				switch cell := f.shown(); {
				case cell == "":
				case f.name == "at" || f.name == "kind" || f.name == "status" || f.name == "what":
					cells = append(cells, cell)
				default:
					cells = append(cells, f.name+"="+cell)
				}
			}
			text = strings.Join(cells, "  ") + "\n"
		}
		if _, err := fmt.Fprint(call.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}
