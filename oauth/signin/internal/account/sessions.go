package account

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// maxPlace bounds what a host says of an address, in characters.
const maxPlace = 60

type sessionRow struct {
	ID, Device string
	This       bool
	Way        string // the method by which it began
	Factors    string // whether there was a second factor; "": that is not known
	IP, Near   string // the address, and how near it is to the one of the visitor
	Place      string // where that is; "": the host does not say
	Since      web.Moment
	Used       web.Moment // the day on which it was last used; zero: not known, or the day of Since
}

func (a *Account) sessionRows(ctx context.Context, l page.Lang, mine storage.Session,
	here netip.Addr) ([]sessionRow, error) {
	all, err := a.Store.Sessions(ctx, mine.UserID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	all = slices.DeleteFunc(all, func(v storage.Session) bool { return !v.Live(now) })
	slices.SortFunc(all, func(x, y storage.Session) int {
		if (x.ID == mine.ID) != (y.ID == mine.ID) {
			return map[bool]int{true: -1, false: 1}[x.ID == mine.ID]
		}
		return cmp.Or(y.AuthTime.Compare(x.AuthTime), cmp.Compare(x.ID, y.ID))
	})
	var rows []sessionRow
	for _, v := range all[:min(len(all), maxRows)] {
		row := sessionRow{
			ID: v.ID, Device: web.AgentText(l, v.Agent), This: v.ID == mine.ID, Way: l.T(a.methodOf(v)),
			Factors: l.T(factorsOf(v)),
			IP:      v.IP, Since: web.MomentOf(l, v.AuthTime),
		}
		if at, err := netip.ParseAddr(v.IP); err == nil {
			row.Near, row.Place = l.T(near(at, here)), a.placeOf(at)
		}
		if used := a.Sessions.LastUsed(v); !used.IsZero() && used.Sub(v.AuthTime) >= time.Hour {
			row.Used = web.MomentOfDay(l, used)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// methodOf returns the name of the method by which a session began, in English or as the host calls it.
func (a *Account) methodOf(v storage.Session) string {
	return a.Labels.Of(cmp.Or(session.ProofOf(v).Method, storage.LoginSelf))
}

// factorsOf says whether a session began with a second factor, "" where nobody knows: what another
// provider has asked for stays there.
func factorsOf(v storage.Session) string {
	switch {
	case v.Multifactor():
		return "with a second factor"
	case v.AMR == "":
		return ""
	}
	return "without a second factor"
}

// near says how near an address is to the visitor's. The networks are those that rate limits count by.
func near(at, here netip.Addr) string {
	at, here = at.Unmap(), here.Unmap()
	mine, around := network.Of(here), network.Of(here)
	if wider, _, ok := network.Widen(mine); ok {
		around = wider
	}
	switch {
	case !here.IsValid():
		return ""
	case at == here, mine.Contains(at):
		return "your network now"
	case around.Contains(at):
		return "close to your network now"
	}
	return "another network"
}

// placeOf returns where the host says an address is: one short line that can be seen.
func (a *Account) placeOf(at netip.Addr) string {
	if a.Place == nil {
		return ""
	}
	text := page.Shown(a.Place(at))
	if utf8.RuneCountInString(text) > maxPlace {
		text = string([]rune(text)[:maxPlace]) + "…"
	}
	return text
}
