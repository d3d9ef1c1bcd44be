package web

import (
	"testing"
	"time"

	"github.com/keystile/keystile/internal/page"
)

func TestBrowserHasItsCommonName(t *testing.T) {
	for agent, want := range map[string]string{
		firefoxOnWindows: "Firefox on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 " +
			"Edg/140.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile " +
			"Safari/537.36": "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
			"Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
			"Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 " +
			"OPR/120.0.0.0": "Opera on Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
			"MicroMessenger/8.0.50(0x1800322a)": "WeChat on iPhone",
		"curl/8.5.0":              "an unknown browser",
		"":                        "an unknown browser",
		"Firefox/1":               "Firefox",
		"Bot (Windows)":           "an unknown browser on Windows",
		"<b>Windows Firefox/</b>": "Firefox on Windows",
	} {
		if got := AgentText(page.English, agent); got != want {
			t.Errorf("agentText(%q) = %q, want %q", agent, got, want)
		}
	}
	if got := AgentText(page.Chinese, firefoxOnWindows); got != "Firefox（Windows）" {
		t.Errorf("in Chinese it is %q", got)
	}
}

const firefoxOnWindows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0"

func TestTimesAreWrittenInOneFormat(t *testing.T) {
	at := time.Date(2026, 11, 6, 19, 5, 9, 0, time.FixedZone("", 8*3600))
	for lang, want := range map[page.Lang]Moment{
		page.English: {"2026-11-06T11:05:09Z", "6 Nov 2026, 11:05 UTC"},
		page.Chinese: {"2026-11-06T11:05:09Z", "2026年11月6日 11:05 UTC"},
	} {
		if got := MomentOf(lang, at); got != want {
			t.Errorf("in %s it is %v, want %v", lang, got, want)
		}
	}
	if got := MomentOfDay(page.English, at); got.Human != "6 Nov 2026" {
		t.Errorf("the day is %q", got.Human)
	}
}
