package planted

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

type gatherFunc func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error)

// byGetAndList is Gather for a Backend that has none, so that the bugs can be planted there, too. Its answers
// are not of one moment, so a bug about that is caught by this alone.
func byGetAndList(b driver.Backend) gatherFunc {
	return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
		all := make([]driver.Answer, len(asks))
		for i, ask := range asks {
			for _, id := range slices.Compact(slices.Sorted(slices.Values(ask.IDs))) {
				d, err := b.Get(ctx, ask.Kind, id)
				if err == nil {
					all[i].Docs = append(all[i].Docs, d)
				} else if !errors.Is(err, driver.ErrNotFound) {
					return nil, err
				}
			}
			if len(ask.IDs) == 0 && ask.N > 0 {
				var err error
				if all[i].Docs, all[i].Next, err = b.List(ctx, ask.Kind, ask.Span, ask.N); err != nil {
					return nil, err
				}
			}
		}
		return all, nil
	}
}

// asked changes the questions on their way in.
func asked(change func([]driver.Ask) []driver.Ask) func(*parts, gatherFunc) gatherFunc {
	return func(_ *parts, gather gatherFunc) gatherFunc {
		return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
			return gather(ctx, change(asks)...)
		}
	}
}

// answered changes each answer on its way out.
func answered(change func(driver.Ask, *driver.Answer)) func(*parts, gatherFunc) gatherFunc {
	return func(_ *parts, gather gatherFunc) gatherFunc {
		return func(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
			all, err := gather(ctx, asks...)
			for i := range all {
				change(asks[i], &all[i])
			}
			return all, err
		}
	}
}

// eachAsk changes a copy of each question.
func eachAsk(change func(*driver.Ask)) func(*parts, gatherFunc) gatherFunc {
	return asked(func(asks []driver.Ask) []driver.Ask {
		asks = slices.Clone(asks)
		for i := range asks {
			change(&asks[i])
		}
		return asks
	})
}

func gatherBugs() []bug {
	const come, missing, kinds = "Gather/documents that are named", "Gather/what is not there", "Gather/several questions"
	const listed, page, alike, moment, fresh = "Gather/a list is answered", "Gather/a page of ids",
		"Gather/names that look alike", "Gather/an answer is all of one moment", "Gather/what a Put has answered"
	return []bug{
		{name: "Gather orders the ids it is handed", caught: come, gather: asked(func(asks []driver.Ask) []driver.Ask {
			for _, ask := range asks {
				slices.Sort(ask.IDs)
			}
			return asks
		})},
		{name: "Gather answers in the order of the names", caught: come, gather: answered(inOrderOfNames)},
		{name: "Gather lists beside what is named", caught: come, gather: alsoLists},
		{name: "Gather leaves out the entries", caught: come, gather: answered(func(_ driver.Ask, a *driver.Answer) {
			for i := range a.Docs {
				a.Docs[i].Index = nil
			}
		})},
		{name: "Gather fails for a name that is not there", caught: missing, gather: failsForMissing},
		{name: "Gather takes an N of 0 for 1", caught: missing,
			gather: eachAsk(func(ask *driver.Ask) { ask.N = max(ask.N, 1) })},
		{name: "Gather takes what is no name for a text", caught: missing, gather: eachAsk(func(ask *driver.Ask) {
			ask.IDs = slices.Clone(ask.IDs)
			for i, id := range ask.IDs {
				ask.IDs[i] = strings.ToValidUTF8(id, "\ufffd")
			}
		})},
		{name: "Gather leaves out the answer that is empty", caught: kinds, gather: leavesOutEmpty},
		{name: "Gather looks for all ids in the first kind", caught: kinds, gather: eachOfFirstKind},
		{name: "Gather answers one question of two that are equal", caught: kinds, gather: eachOnce},
		{name: "Gather has no next", caught: listed, gather: answered(func(_ driver.Ask, a *driver.Answer) { a.Next = "" })},
		{name: "Gather lists a document once", caught: listed, gather: answered(func(ask driver.Ask, a *driver.Answer) {
			a.Docs = slices.CompactFunc(a.Docs, func(x, y driver.Doc) bool { return x.ID == y.ID })
		})},
		{name: "Gather answers a hundred at most", caught: page, gather: answered(func(_ driver.Ask, a *driver.Answer) {
			a.Docs = a.Docs[:min(len(a.Docs), 100)]
		})},
		{name: "Gather compares ids without the space behind them", caught: alike, gather: eachAsk(func(ask *driver.Ask) {
			ask.IDs = slices.Clone(ask.IDs)
			for i, id := range ask.IDs {
				ask.IDs[i] = strings.TrimRight(id, " ")
			}
		})},
		{name: "Gather answers one question after the other", caught: moment, gather: oneByOne},
		{name: "Gather lists first and looks up later", caught: moment, gather: looksUpLater},
		{name: "Gather takes what broke off for all", caught: fresh, gather: takesBrokenOff},
		{name: "Gather remembers what it has read", caught: fresh, gather: remembersRead},
	}
}
