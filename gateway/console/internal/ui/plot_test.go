package ui

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/page"
)

func testView() *View {
	return &View{Lang: page.English, URL: &url.URL{Path: "/console/usage"}, texts: []Texts{texts}}
}

func longest() (p Plot) {
	p = Plot{Title: `Calls <script>`, Head: "Hour", Bars: []Series{{Name: "calls"}, {Name: "errors"}}, Line: &Series{Name: "p95", Unit: "ms"}}
	for i := range int64(120) {
		p.At = append(p.At, time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC).Add(time.Duration(i)*time.Hour))
		p.Bars[0].Values = append(p.Bars[0].Values, 1_000_000+i*i)
		p.Bars[1].Values = append(p.Bars[1].Values, i)
		p.Line.Values = append(p.Line.Values, 120-i%60)
	}
	return p
}

func TestPlotOfTheMostColumnsFitsOnAPage(t *testing.T) {
	out, err := testView().Plot(longest())
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 40<<10 || strings.Contains(string(out), "<script") {
		t.Errorf("%d bytes", len(out))
	}
	for _, want := range []string{"<title>", "1,000,000", "120 ms", "<table>"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the plot lacks %q", want)
		}
	}
}

// days are so many, from 20 November on.
func days(n int) (all []time.Time) {
	for i := range n {
		all = append(all, time.Date(2026, 11, 20+i, 0, 0, 0, 0, time.UTC))
	}
	return all
}

func TestPlotOfNothingIsNothing(t *testing.T) {
	for _, p := range []Plot{{}, {At: days(1)}, {Bars: []Series{{}}}} {
		if out, err := testView().Plot(p); out != "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
	}
}

func TestPlotLeavesOutUnknownValues(t *testing.T) {
	out, err := testView().Plot(Plot{Title: "x", At: days(3),
		Bars: []Series{{Name: "n", Values: []int64{5}}}, Line: &Series{Name: "l", Values: []int64{1, -1, 3}}})
	if err != nil || strings.Count(string(out), "–") != 3 || strings.Contains(string(out), "NaN") {
		t.Errorf("%s, %v", out, err)
	}
}

// A value without a neighbour has no line, so it is a dot that is seen.
func TestPlotShowsAPointByItself(t *testing.T) {
	for values, want := range map[[3]int64][2]int{{-1, 7, -1}: {0, 1}, {7, -1, 7}: {0, 1}, {7, 7, -1}: {1, 0},
		{-1, -1, -1}: {0, 0}} {
		out, err := testView().Plot(Plot{Title: "x", At: days(3), Bars: []Series{{Name: "n"}},
			Line: &Series{Name: "l", Values: values[:]}})
		_, drawn, _ := strings.Cut(string(out), `role="img"`)
		got := [2]int{strings.Count(drawn, `class="s2"`), strings.Count(drawn, `class="s2 dots"`)}
		if err != nil || got != want {
			t.Errorf("of %v the lines and dots are %v, want %v: %s, %v", values, got, want, out, err)
		}
	}
}

// The scale of the columns has room for what they are compared with.
func TestPlotHasTheSpanBeforeOnTheScaleOfItsColumns(t *testing.T) {
	out, err := testView().Plot(Plot{Title: "x", At: days(2), Bars: []Series{{Name: "n", Values: []int64{10, 20}}},
		Before: &Series{Name: "before", Values: []int64{100, 50}}})
	for _, want := range []string{`class="s3" d="M5 0L15 100"`, "<span>100</span>", "<td class=\"num\">100</td>",
		"20 Nov · n 10 · before 100"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the plot lacks %q: %s, %v", want, out, err)
		}
	}
}

// Texts stand outside of what is stretched, and no style stands in the page.
func TestPlotHasNoTextInItsDrawing(t *testing.T) {
	out, err := testView().Plot(longest())
	if err != nil || strings.Contains(string(out), "<text") || strings.Contains(string(out), "style=") ||
		!strings.Contains(string(out), `preserveAspectRatio="none"`) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestTextsBelowAPlotAreEvenlySpread(t *testing.T) {
	for n := 1; n <= 744; n++ {
		every := everyTick(n)
		texts := (n + every - 1) / every
		if empty := texts*every - n; texts > 8 || texts < 4 && n > 3 || empty > n/6 {
			t.Errorf("%d columns have %d texts, and %d empty ones", n, texts, empty)
		}
	}
}

func TestColumnIsCalledByWhatTellsItFromOthers(t *testing.T) {
	hour := []time.Time{time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)}
	week := append(slices.Clone(hour), hour[1].AddDate(0, 0, 6))
	for _, c := range []struct {
		at         []time.Time
		lang       page.Lang
		tick, name string
	}{
		{hour, page.English, "10:00", "26 Nov 10:00"}, {week, page.English, "26 Nov 10:00", "26 Nov 10:00"},
		{days(2), page.English, "21 Nov", "21 Nov"}, {days(2), page.Chinese, "11月21日", "11月21日"},
	} {
		d := drawing{Plot: Plot{At: c.at}, View: &View{Lang: c.lang}}
		if tick, name := d.tick(1), d.name(1); tick != c.tick || name != c.name {
			t.Errorf("%v is %q and %q, want %q and %q", c.at, tick, name, c.tick, c.name)
		}
	}
}
