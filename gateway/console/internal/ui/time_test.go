package ui

import (
	"testing"

	"github.com/keystile/keystile/internal/page"
)

func TestTimesHaveOneFormatInEachLanguage(t *testing.T) {
	for _, c := range []struct {
		lang     page.Lang
		at, want string
	}{
		{page.English, "2026-11-26T11:05:11Z", `<time datetime="2026-11-26T11:05:11Z">26 Nov 2026, 11:05 UTC</time>`},
		{page.Chinese, "2026-11-26T19:05:11+08:00", `<time datetime="2026-11-26T11:05:11Z">2026年11月26日 11:05 UTC</time>`},
		{page.English, "", ""},
		{page.English, "<b>", "&lt;b&gt;"},
	} {
		v := &View{Lang: c.lang}
		if got := string(v.Time(c.at)); got != c.want {
			t.Errorf("%s of %q is %s, want %s", c.lang, c.at, got, c.want)
		}
	}
	const want = `<time datetime="2026-11-26T11:05:11Z" data-utc data-seconds>26 Nov 2026, 11:05:11 UTC</time>`
	if got := string((&View{Lang: page.English}).TimeUTC("2026-11-26T11:05:11Z")); got != want {
		t.Errorf("to the second it is %s, want %s", got, want)
	}
}
