package pages

import (
	"strings"
	"testing"
)

// A plot tells the numbers of a column to the keyboard and to the mouse, and its texts are never shrunk.
func TestPlotTellsItsNumbersToTheKeyboardAndTheMouse(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.s = used(t, func(text string) string { return text }).service
	v.operator()
	v.at("/console/usage")
	const hint = "Point at a column, or choose one with the arrow keys."
	says := func(what string, is func(text string) bool) {
		t.Helper()
		if text := v.Text("figure .value"); !is(text) {
			t.Errorf("%s the plot says %q", what, text)
		}
	}
	rests := func(text string) bool { return text == hint }
	numbers := func(text string) bool {
		return strings.Contains(text, "Answered") && strings.Contains(text, "Errors 0")
	}
	says("at first", rests)
	v.to("Skip to content")
	v.Press("Enter")
	v.to("Calls: " + hint)
	says("reached with Tab", numbers)
	last := v.Text("figure .value")
	v.Press("ArrowLeft")
	says("after an arrow key", func(text string) bool { return numbers(text) && text != last })
	v.Press("ArrowRight")
	v.Press("ArrowRight")
	says("after the last column", func(text string) bool { return text == last })
	v.Press("Home")
	says("after Home", func(text string) bool { return strings.Contains(text, "Answered 0") })
	v.Press("Tab")
	says("left with Tab", rests)
	v.Click("figure .area")
	says("pointed at", numbers)
	for _, width := range []int{1280, 390} {
		v.Look(width, false)
		var small []string
		v.Ask(`[...document.querySelectorAll("figure *")].filter((e) => e.childElementCount === 0 && e.textContent.trim() &&
			e.getClientRects().length && !e.closest("title") && parseFloat(getComputedStyle(e).fontSize) < 12)
			.map((e) => e.outerHTML)`, &small)
		if len(small) > 0 {
			t.Errorf("at %d pixels these texts are too small: %q", width, small)
		}
	}
	v.quiet()
}
