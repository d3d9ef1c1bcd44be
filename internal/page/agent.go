package page

import "strings"

// Texts of a User-Agent, first match first: most browsers also claim to be the ones below them.
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

// AgentText returns the common name of the browser of a User-Agent: "Firefox on Windows". The
// browser may lie about it, but no text of the sender is in the name.
func AgentText(l Lang, agent string) string {
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
