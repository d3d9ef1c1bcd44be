package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Page is a tab. Its methods fail the test when the browser cannot do what they say.
type Page struct {
	t      *testing.T
	ctx    context.Context
	target *chromedp.Target
	events chan any
	device Device
	faults []string
	asked  string // the method of the first request for a document since the test wanted to know

	scriptless bool // pages run no scripts
}

// Open goes to an address and waits until the page there is loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	if gone := call(p, page.Navigate, page.NavigateParams{URL: url}); gone.ErrorText != "" {
		p.t.Fatalf("open %s: %s", url, gone.ErrorText)
	}
	p.loaded()
}

// Follow clicks an element that leads to another page and waits until that is loaded.
func (p *Page) Follow(selector string) {
	p.t.Helper()
	p.Click(selector)
	p.loaded()
}

// Arrive waits until the page that it goes to by itself is loaded.
func (p *Page) Arrive() {
	p.t.Helper()
	p.loaded()
}

// Reach waits, through pages that go on by themselves, until a page that is loaded has such an element. A page that
// goes on before it is loaded is never said to be.
func (p *Page) Reach(selector string) {
	p.t.Helper()
	for p.Count(selector) == 0 {
		p.loaded()
	}
}

// Forget drops every cookie: the page is in the browser of somebody new.
func (p *Page) Forget() {
	p.t.Helper()
	call(p, network.ClearBrowserCookies, cdp.Empty{})
}

// Shown waits until the page itself shows an element.
func (p *Page) Shown(selector string) {
	p.t.Helper()
	p.evaluate(runtime.EvaluateParams{AwaitPromise: &yes, ReturnByValue: &yes, Expression: shown(selector)}, nil)
}

// shown is an expression that is true once an element is shown.
func shown(selector string) string {
	return fmt.Sprintf(`new Promise(done => {
		const look = () => document.querySelector(%q)?.checkVisibility() && done(true);
		new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true});
		look();
	})`, selector)
}

// Await waits until a page shows an element, through pages that go on by themselves, however soon they do.
func (p *Page) Await(selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	look := runtime.EvaluateParams{AwaitPromise: &yes, ReturnByValue: &yes, Expression: shown(selector)}
	for {
		got, err := cdp.Call(ctx, p.target, runtime.Evaluate, look)
		if err == nil && got.ExceptionDetails == nil {
			return
		}
		if ctx.Err() != nil {
			p.t.Fatalf("no page shows %s; at %s: %v", selector, p.URL(), err)
		}
	}
}

// Attribute returns the value of an element's attribute.
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
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed,
		input.DispatchMouseEventTypeMouseReleased} {
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y,
			Button: input.MouseButtonLeft, ClickCount: 1})
	}
}

func (p *Page) tap(x, y float64) {
	p.t.Helper()
	call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart,
		TouchPoints: []*input.TouchPoint{{X: x, Y: y}}})
	call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd,
		TouchPoints: []*input.TouchPoint{}})
}

// Type clicks a field and types a text into it.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Click(selector)
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// Choose chooses a file for a field.
func (p *Page) Choose(selector, path string) {
	p.t.Helper()
	find := runtime.EvaluateParams{Expression: fmt.Sprintf(`document.querySelector(%q)`, selector)}
	field := call(p, runtime.Evaluate, find)
	call(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{ObjectID: field.Result.ObjectID, Files: []string{path}})
}

// Text returns the text that an element shows.
func (p *Page) Text(selector string) (text string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`document.querySelector(%q).innerText`, selector), &text)
	return text
}

// Picture writes what a window of this size shows, as a small WebP.
func (p *Page) Picture(path string, width, height int) {
	p.t.Helper()
	p.size(width, height, 1, false)
	quality := int64(80)
	shot := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp,
		Quality: &quality})
	if err := os.WriteFile(path, shot.Data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Ask runs a script of the test in the page, beside those of the page, and returns what it is worth.
func (p *Page) Ask(expression string, into any) {
	p.t.Helper()
	p.eval(expression, into)
}

// Reload loads the page once more and returns the method of the request for it: after POST, a browser asks its user
// whether to send a form again.
func (p *Page) Reload() (method string) {
	p.t.Helper()
	call(p, network.Enable, network.EnableParams{})
	defer call(p, network.Disable, cdp.Empty{})
	p.asked = ""
	call(p, page.Reload, page.ReloadParams{})
	p.loaded()
	return p.asked
}

// Fonts returns the families that the texts of an element are drawn with.
func (p *Page) Fonts(selector string) (families []string) {
	p.t.Helper()
	call(p, dom.Enable, dom.EnableParams{})
	call(p, css.Enable, cdp.Empty{})
	root := call(p, dom.GetDocument, dom.GetDocumentParams{}).Root.NodeID
	node := call(p, dom.QuerySelector, dom.QuerySelectorParams{NodeID: root, Selector: selector}).NodeID
	for _, f := range call(p, css.GetPlatformFontsForNode, css.GetPlatformFontsForNodeParams{NodeID: node}).Fonts {
		families = append(families, f.FamilyName)
	}
	call(p, css.Disable, cdp.Empty{})
	call(p, dom.Disable, cdp.Empty{})
	return families
}

// Count returns how many elements a selector finds.
func (p *Page) Count(selector string) (n int) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`document.querySelectorAll(%q).length`, selector), &n)
	return n
}

// URL is the address of the page.
func (p *Page) URL() (url string) {
	p.t.Helper()
	p.eval(`location.href`, &url)
	return url
}

// Faults returns what the browser has complained about since the start: violations of a
// Content-Security-Policy, errors on the console, requests that failed.
func (p *Page) Faults() []string {
	p.t.Helper()
	p.eval("1", new(int)) // what came before its answer is here now
	for {
		select {
		case event := <-p.events:
			p.note(event)
		default:
			return p.faults
		}
	}
}

// Screenshot writes the whole page as PNG.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	shot := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &yes, OptimizeForSpeed: &yes,
	})
	if err := os.WriteFile(path, shot.Data, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// yes stands for true where the protocol's flags are optional.
var yes = true

func (p *Page) eval(expression string, into any) {
	p.t.Helper()
	p.evaluate(runtime.EvaluateParams{Expression: expression, ReturnByValue: &yes}, into)
}

// evaluate runs an expression as params say; into nil leaves the result alone.
func (p *Page) evaluate(params runtime.EvaluateParams, into any) {
	p.t.Helper()
	got := call(p, runtime.Evaluate, params)
	text := params.Expression[:min(len(params.Expression), 300)]
	if e := got.ExceptionDetails; e != nil {
		description := ""
		if e.Exception != nil {
			description = e.Exception.Description
		}
		p.t.Fatalf("%s: %s %s", text, e.Text, description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}
