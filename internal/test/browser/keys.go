package browser

import "fmt"

// keys are what Press takes, as the protocol wants them.
var keys = map[string]map[string]any{
	"Tab":   {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
	"Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
}

// Press presses a key: Tab or Enter.
func (p *Page) Press(key string) {
	p.t.Helper()
	p.drawn()
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind}
		for name, value := range keys[key] {
			event[name] = value
		}
		p.call("Input.dispatchKeyEvent", event, nil)
	}
}

// Write types a text into what has the focus.
func (p *Page) Write(text string) {
	p.t.Helper()
	p.drawn()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Focus is what has the focus.
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
		return {Name: (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText).trim(), Seen: drawn && inside};
	})()`, outline), &f)
	return f
}

// drawn waits until the page is drawn once more, whether its scripts run or not: before
// that it may not have put the focus where it wants it, nor scrolled there.
func (p *Page) drawn() {
	p.t.Helper()
	dot := map[string]any{"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}
	p.call("Page.captureScreenshot", map[string]any{"format": "jpeg", "clip": dot}, nil)
}

// outline is how many pixels a focus is drawn with at least (WCAG 2.2, 2.4.13).
const outline = 2
