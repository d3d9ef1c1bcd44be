package ui

import (
	"fmt"
	"html/template"
	"time"

	"github.com/keystile/keystile/internal/page"
)

// Time shows a moment, given as ISO 8601, in UTC: the script shows it in the reader's own zone. Another text is shown
// as it is.
func (v *View) Time(at string) template.HTML { return v.time(at, "") }

// TimeUTC shows a moment to the second, in UTC for every reader.
func (v *View) TimeUTC(at string) template.HTML { return v.time(at, " data-utc data-seconds") }

func (v *View) time(at, kind string) template.HTML {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return template.HTML(template.HTMLEscapeString(at))
	}
	t = t.UTC()
	shown := t.Format("2 Jan 2006, 15:04")
	if v.Lang == page.Chinese {
		shown = t.Format("2006年1月2日 15:04")
	}
	if kind != "" {
		shown += t.Format(":05")
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s"%s>%s UTC</time>`, t.Format(time.RFC3339), kind, shown))
}
