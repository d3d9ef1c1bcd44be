package ui

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/page"
)

func testView() *View {
	return &View{Lang: page.English, URL: &url.URL{Path: "/console/usage"}, texts: []Texts{texts}}
}

func longest() (p Plot) {
	p = Plot{Title: `Calls <script>`, Head: "Hour", Bars: []Series{{Name: "calls"}, {Name: "errors"}}, Line: &Series{Name: "p95", Unit: "ms"}}
	for i := range int64(120) {
		p.At = append(p.At, "11-23 14:00")
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

func TestPlotOfNothingIsNothing(t *testing.T) {
	for _, p := range []Plot{{}, {At: []string{"a"}}, {Bars: []Series{{}}}} {
		if out, err := testView().Plot(p); out != "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
	}
}

func TestPlotLeavesOutUnknownValues(t *testing.T) {
	out, err := testView().Plot(Plot{Title: "x", At: []string{"a", "b", "c"},
		Bars: []Series{{Name: "n", Values: []int64{5}}}, Line: &Series{Name: "l", Values: []int64{1, -1, 3}}})
	if err != nil || strings.Count(string(out), "–") != 3 || strings.Contains(string(out), "NaN") {
		t.Errorf("%s, %v", out, err)
	}
}
