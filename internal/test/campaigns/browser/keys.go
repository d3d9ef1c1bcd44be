package browser

import (
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
)

// keys lists the keys that Press accepts.
var keys = map[string]input.DispatchKeyEventParams{
	"Tab":   {Key: "Tab", Code: "Tab", WindowsVirtualKeyCode: 9},
	"Enter": {Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"},

	"Home":       {Key: "Home", Code: "Home", WindowsVirtualKeyCode: 36},
	"ArrowLeft":  {Key: "ArrowLeft", Code: "ArrowLeft", WindowsVirtualKeyCode: 37},
	"ArrowRight": {Key: "ArrowRight", Code: "ArrowRight", WindowsVirtualKeyCode: 39},
}

// Press presses a key of those that are listed.
func (p *Page) Press(key string) {
	p.t.Helper()
	p.drawn()
	event := keys[key]
	for _, event.Type = range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		call(p, input.DispatchKeyEvent, event)
	}
}

// Write types a text into what has the focus.
func (p *Page) Write(text string) {
	p.t.Helper()
	p.drawn()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// Focus describes the focused element.
type Focus struct {
	Name string // what it says or is labelled with; "": nothing has the focus
	Seen bool   // it has an outline and stands inside the window
}

// Focus tells what has the focus.
func (p *Page) Focus() (f Focus) {
	p.t.Helper()
	p.drawn()
	p.eval(fmt.Sprintf(`(() => {
		const e = document.activeElement;
		if (!e || e === document.body) return {Name: "", Seen: false};
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		const drawn = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= %d;
		const inside = r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
		return {Name: (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText || e.getAttribute("aria-label") || "").trim(), Seen: drawn && inside};
	})()`, outline), &f)
	return f
}

// drawn waits until the page is drawn once more, whether its scripts run or not: before
// that it may not have put the focus where it wants it, nor scrolled there.
func (p *Page) drawn() {
	p.t.Helper()
	call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Clip: &page.Viewport{Width: 1, Height: 1, Scale: 1},
	})
}

// outline is the least width of a focus ring in pixels (WCAG 2.2, 2.4.13).
const outline = 2
