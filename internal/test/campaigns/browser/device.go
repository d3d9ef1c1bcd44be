package browser

import (
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
)

// Device is a screen that a page is shown on.
type Device struct {
	Name          string
	Width, Height int    // in CSS pixels
	Zoom          int    // device pixels for each of these; 0: 1
	Phone         bool   // a finger in place of a mouse, and what phones say of themselves
	Language      string // Accept-Language; "": that of the machine
}

// The devices that pages are made for.
var (
	Desktop = Device{Name: "desktop", Width: 1280, Height: 800}
	Phone   = Device{Name: "phone", Width: 390, Height: 844, Zoom: 2, Phone: true}
)

// In is the same device of somebody who reads a language (RFC 9110 12.5.4).
func (d Device) In(language string) Device {
	d.Language = language
	return d
}

const phoneAgent = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
	"Mobile Safari/537.36"

// become makes the page one of this device from the next request on.
func (p *Page) become(d Device) {
	p.t.Helper()
	p.size(d.Width, d.Height, max(d.Zoom, 1), d.Phone)
	call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: d.Phone})
	agent := call(p, browser.GetVersion, cdp.Empty{}).UserAgent
	if d.Phone {
		agent = phoneAgent
	}
	p.Dark(false)
	// several tabs can have the focus at once
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	if d.Phone || d.Language != "" {
		call(p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent,
			AcceptLanguage: d.Language})
	}
}

func (p *Page) size(width, height, scale int, phone bool) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(width), Height: int64(height), DeviceScaleFactor: float64(scale), Mobile: phone,
	})
}

// Look makes the window so many pixels wide and the colours light or dark.
func (p *Page) Look(width int, dark bool) {
	p.t.Helper()
	p.size(width, 900, 1, width < 500)
	p.Dark(dark)
}

// Dark makes the colours dark, or light. Nothing moves from one to the other.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Magnify is the browser's own zoom: the window is as large as before and holds less, but
// no device holds less than 320 pixels (WCAG 2.2, 1.4.10). 1 is the size of the device.
func (p *Page) Magnify(times int) {
	p.t.Helper()
	d := p.device
	p.size(max(d.Width/times, 320), max(d.Height/times, 256), max(d.Zoom, 1)*times, d.Phone)
}

// Scripts lets pages run theirs, or not, from the next page on. Scripts of the driver itself run in
// any case.
func (p *Page) Scripts(on bool) {
	p.t.Helper()
	p.scriptless = !on
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Overflows reports whether the page is wider than its window.
func (p *Page) Overflows() (wider bool) {
	p.t.Helper()
	p.eval(`document.documentElement.scrollWidth > document.documentElement.clientWidth`, &wider)
	return wider
}
