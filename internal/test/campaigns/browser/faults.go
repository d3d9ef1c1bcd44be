package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// hear keeps an event of the tab until somebody waits for it.
func (p *Page) hear(event any) {
	select {
	case p.events <- event:
	default: // nobody reads: whoever does later waits in vain, and says so
	}
}

// loaded waits until a page is loaded and notes the faults that come before that.
func (p *Page) loaded() {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case event := <-p.events:
			p.note(event)
			if _, ok := event.(*page.EventLoadEventFired); ok {
				return
			}
		case <-p.ctx.Done():
			p.t.Fatal("the browser has gone away")
		case <-timeout:
			p.t.Fatalf("no page was loaded; at %s", p.URL())
		}
	}
}

// note keeps an event that is a complaint.
func (p *Page) note(event any) {
	const policy = "ContentSecurityPolicy"
	switch e := event.(type) {
	case *audits.EventIssueAdded:
		if strings.Contains(string(e.Issue.Code), policy) {
			p.fault(e)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || strings.Contains(e.Entry.Text, "Content Security Policy") {
			p.fault(e)
		}
	case *runtime.EventExceptionThrown:
		p.fault(e)
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument && p.asked == "" {
			p.asked = e.Request.Method
		}
	}
}

func (p *Page) fault(event any) {
	text, err := json.Marshal(event)
	if err != nil {
		text = fmt.Append(nil, event)
	}
	p.faults = append(p.faults, string(text))
}
