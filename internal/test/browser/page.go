package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Page is a tab. Its methods fail the test when the browser cannot do what they say.
type Page struct {
	t       *testing.T
	b       *Browser
	session string
	events  chan message
	device  Device
	faults  []string

	scriptless bool // pages run no scripts
}

// Open goes to an address and waits until the page there is loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	var gone struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &gone)
	if gone.ErrorText != "" {
		p.t.Fatalf("open %s: %s", url, gone.ErrorText)
	}
	p.await("Page.loadEventFired")
}

// Follow clicks an element that leads to another page and waits until that is loaded.
func (p *Page) Follow(selector string) {
	p.t.Helper()
	p.Click(selector)
	p.await("Page.loadEventFired")
}

// Arrive waits until the page that it goes to by itself is loaded.
func (p *Page) Arrive() {
	p.t.Helper()
	p.await("Page.loadEventFired")
}

// Forget drops every cookie: the page is in the browser of somebody new.
func (p *Page) Forget() {
	p.t.Helper()
	p.call("Network.clearBrowserCookies", nil, nil)
}

// Shown waits until the page itself shows an element.
func (p *Page) Shown(selector string) {
	p.t.Helper()
	p.evaluate(map[string]any{"awaitPromise": true, "returnByValue": true, "expression": fmt.Sprintf(`new Promise(done => {
		const look = () => document.querySelector(%q)?.checkVisibility() && done(true);
		new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true});
		look();
	})`, selector)}, nil)
}

// Attribute is what an element has for an attribute.
func (p *Page) Attribute(selector, name string) (value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`document.querySelector(%q).getAttribute(%q)`, selector, name), &value)
	return value
}

// Click clicks the middle of an element.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.drawn()
	var at struct{ X, Y float64 }
	p.eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) throw new Error("there is no such element");
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return {X: r.x + r.width / 2, Y: r.y + r.height / 2};
	})()`, selector), &at)
	if p.device.Phone {
		p.tap(at.X, at.Y)
		return
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

func (p *Page) tap(x, y float64) {
	p.t.Helper()
	p.call("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{map[string]any{"x": x, "y": y}}}, nil)
	p.call("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}}, nil)
}

// Type clicks a field and types a text into it.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Click(selector)
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Text is what an element shows.
func (p *Page) Text(selector string) (text string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`document.querySelector(%q).innerText`, selector), &text)
	return text
}

// URL is the address of the page.
func (p *Page) URL() (url string) {
	p.t.Helper()
	p.eval(`location.href`, &url)
	return url
}

// Faults is what the browser has complained about since the start: violations of a
// Content-Security-Policy, errors on the console, requests that failed.
func (p *Page) Faults() []string {
	p.t.Helper()
	p.call("Runtime.evaluate", map[string]any{"expression": "1"}, nil) // what came before its answer is here now
	for {
		select {
		case m := <-p.events:
			p.note(m)
		default:
			return p.faults
		}
	}
}

// Screenshot writes the whole page as PNG.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(path, png, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) call(method string, params any, into any) {
	p.t.Helper()
	if params == nil {
		params = struct{}{}
	}
	if err := p.b.call(p.session, method, params, into); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) eval(expression string, into any) {
	p.t.Helper()
	p.evaluate(map[string]any{"expression": expression, "returnByValue": true}, into)
}

// evaluate runs an expression as params say; into nil leaves the result alone.
func (p *Page) evaluate(params map[string]any, into any) {
	p.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", params, &got)
	text := params["expression"].(string)
	text = text[:min(len(text), 300)]
	if e := got.ExceptionDetails; e != nil {
		p.t.Fatalf("%s: %s %s", text, e.Text, e.Exception.Description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

// await waits for an event and notes the faults that come before it.
func (p *Page) await(method string) {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case m, open := <-p.events:
			if !open {
				p.t.Fatal("the browser has gone away")
			}
			if p.note(m); m.Method == method && m.Session == p.session {
				return
			}
		case <-timeout:
			p.t.Fatalf("waiting for %s: nothing came; at %s", method, p.URL())
		}
	}
}

// note keeps an event that is a complaint.
func (p *Page) note(m message) {
	text := string(m.Params)
	switch m.Method {
	case "Audits.issueAdded":
		if strings.Contains(text, "ContentSecurityPolicy") {
			p.faults = append(p.faults, text)
		}
	case "Log.entryAdded":
		if strings.Contains(text, `"level":"error"`) || strings.Contains(text, "Content Security Policy") {
			p.faults = append(p.faults, text)
		}
	case "Runtime.exceptionThrown":
		p.faults = append(p.faults, text)
	}
}
