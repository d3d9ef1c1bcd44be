package web

import (
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
)

// In the order to look in: most browsers also claim to be the ones below them.
var (
	browserNames = [][2]string{
		{"MicroMessenger/", "WeChat"}, {"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Version/", "Safari"},
	}
	systemNames = [][2]string{
		{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"},
		{"CrOS", "ChromeOS"}, {"Macintosh", "macOS"}, {"Linux", "Linux"},
	}
)

// AgentText says which browser a User-Agent is, as people call it: "Firefox on Windows".
// The browser says so of itself, and no word of it is the sender's own.
func AgentText(l page.Lang, agent string) string {
	browser, system := named(browserNames, agent), named(systemNames, agent)
	switch {
	case browser == "" && system == "":
		return l.T("an unknown browser")
	case system == "":
		return browser
	case browser == "":
		return l.T("an unknown browser on %s", system)
	}
	return l.T("%s on %s", browser, system)
}

func named(names [][2]string, agent string) string {
	for _, n := range names {
		if strings.Contains(agent, n[0]) {
			return n[1]
		}
	}
	return ""
}

// Moment is a time as a machine and as a person reads it.
type Moment struct{ Machine, Human string }

// DayOf returns the day of a time in a language, in UTC.
func DayOf(l page.Lang, at time.Time) string {
	if l == page.Chinese {
		return at.UTC().Format("2006年1月2日")
	}
	return at.UTC().Format("2 January 2006")
}

// MomentOf returns a time as it is read in a language.
func MomentOf(l page.Lang, at time.Time) Moment {
	layout := "2 January 2006, 15:04 UTC"
	if l == page.Chinese {
		layout = "2006年1月2日 15:04 UTC"
	}
	return Moment{at.UTC().Format(time.RFC3339), at.UTC().Format(layout)}
}
