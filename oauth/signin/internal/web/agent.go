package web

import (
	"time"

	"github.com/keystile/keystile/internal/page"
)

// AgentText returns the common name of the browser of a User-Agent.
func AgentText(l page.Lang, agent string) string { return page.AgentText(l, agent) }

// Moment is a time as machines and users read it.
type Moment struct{ Machine, Human string }

// DayOf returns the day of a time in a language, in UTC.
func DayOf(l page.Lang, at time.Time) string {
	if l == page.Chinese {
		return at.UTC().Format("2006年1月2日")
	}
	return at.UTC().Format("2 Jan 2006")
}

// MomentOf returns a time formatted in a language.
func MomentOf(l page.Lang, at time.Time) Moment {
	layout := "2 Jan 2006, 15:04 UTC"
	if l == page.Chinese {
		layout = "2006年1月2日 15:04 UTC"
	}
	return Moment{at.UTC().Format(time.RFC3339), at.UTC().Format(layout)}
}

// MomentOfDay is MomentOf for a time of which users read the day alone.
func MomentOfDay(l page.Lang, at time.Time) Moment {
	return Moment{at.UTC().Format(time.RFC3339), DayOf(l, at)}
}
