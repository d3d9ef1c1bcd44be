package browser

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Firefox is a running Firefox.
type Firefox struct{ session *bidi }

// firefoxNames lists the names of its executable.
var firefoxNames = []string{"firefox-esr", "firefox"}

// LaunchFirefox runs Firefox until the test ends. The test is skipped without Firefox on the PATH, and by -short.
func LaunchFirefox(t *testing.T) *Firefox {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	for _, name := range firefoxNames {
		if path, err := exec.LookPath(name); err == nil {
			return launchFirefox(t, path)
		}
	}
	t.Skipf("no Firefox on the PATH (looked for %q)", firefoxNames)
	return nil
}

func launchFirefox(t *testing.T, path string) *Firefox {
	t.Helper()
	profile := t.TempDir()
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", profile,
		"--remote-debugging-port=0", "--remote-allow-origins="+remoteOrigin)
	cmd.Env = append(cmd.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listens := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); { // to the end, or Firefox would wait for a reader
			if _, address, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				listens <- address
			}
		}
		close(listens)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	select {
	case address := <-listens:
		session, err := dialBidi(address)
		if err != nil {
			t.Fatalf("Firefox at %q: %v", address, err)
		}
		t.Cleanup(func() {
			if err := session.call("browser.close", struct{}{}, nil); err == nil {
				<-session.gone
			}
		})
		return &Firefox{session}
	case <-time.After(patience):
		t.Fatal("Firefox does not say where it listens")
		return nil
	}
}

// Tab opens an empty page that shares nothing with any other, no cookie either, until the test ends.
func (f *Firefox) Tab(t *testing.T) *FirefoxPage {
	t.Helper()
	p := &FirefoxPage{t: t, session: f.session}
	var made struct{ UserContext, Context string }
	p.call("browser.createUserContext", struct{}{}, &made)
	p.call("browsingContext.create", map[string]any{"type": "window", "userContext": made.UserContext}, &made)
	p.context, p.events = made.Context, f.session.hear(made.Context)
	return p
}

// FirefoxPage is a tab of Firefox. Its methods are those of a Page, as far as it has them.
type FirefoxPage struct {
	t       *testing.T
	session *bidi
	context string
	events  <-chan message
	faults  []string
}

// Open goes to an address and waits until the page there is loaded.
func (p *FirefoxPage) Open(url string) {
	p.t.Helper()
	p.call("browsingContext.navigate", map[string]any{"context": p.context, "url": url, "wait": "none"}, nil)
	p.Arrive()
}

// Follow clicks an element that leads to another page and waits until that is loaded.
func (p *FirefoxPage) Follow(selector string) {
	p.t.Helper()
	p.Click(selector)
	p.Arrive()
}

// Arrive waits until the page that it goes to by itself is loaded.
func (p *FirefoxPage) Arrive() {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case event := <-p.events:
			if p.note(event); event.Method == "browsingContext.load" {
				return
			}
		case <-p.session.gone:
			p.t.Fatal("the browser has gone away")
		case <-timeout:
			p.t.Fatalf("no page was loaded; at %s", p.URL())
		}
	}
}

// Forget drops every cookie: the page is in the browser of somebody new.
func (p *FirefoxPage) Forget() {
	p.t.Helper()
	of := map[string]any{"type": "context", "context": p.context}
	p.call("storage.deleteCookies", map[string]any{"partition": of}, nil)
}

// Click clicks the middle of an element.
func (p *FirefoxPage) Click(selector string) {
	p.t.Helper()
	p.evaluate(fmt.Sprintf(`document.querySelector(%q)?.scrollIntoView({block: "center"})`, selector), nil)
	var found struct{ Nodes []struct{ SharedID string } }
	p.call("browsingContext.locateNodes", map[string]any{
		"context": p.context, "locator": map[string]any{"type": "css", "value": selector}, "maxNodeCount": 1,
	}, &found)
	if len(found.Nodes) == 0 {
		p.t.Fatalf("%s: there is no such element, at %s", selector, p.URL())
	}
	element := map[string]any{"type": "element", "element": map[string]any{"sharedId": found.Nodes[0].SharedID}}
	p.perform(map[string]any{"type": "pointer", "id": "mouse", "actions": []any{
		map[string]any{"type": "pointerMove", "x": 0, "y": 0, "origin": element},
		map[string]any{"type": "pointerDown", "button": 0},
		map[string]any{"type": "pointerUp", "button": 0},
	}})
}

// Type clicks a field and types a text into it.
func (p *FirefoxPage) Type(selector, text string) {
	p.t.Helper()
	p.Click(selector)
	var keys []any
	for _, c := range text {
		for _, kind := range []string{"keyDown", "keyUp"} {
			keys = append(keys, map[string]any{"type": kind, "value": string(c)})
		}
	}
	p.perform(map[string]any{"type": "key", "id": "keys", "actions": keys})
}

func (p *FirefoxPage) perform(source map[string]any) {
	p.t.Helper()
	p.call("input.performActions", map[string]any{"context": p.context, "actions": []any{source}}, nil)
}

// Text returns the text that an element shows.
func (p *FirefoxPage) Text(selector string) (text string) {
	p.t.Helper()
	p.evaluate(fmt.Sprintf(`document.querySelector(%q).innerText`, selector), &text)
	return text
}

// Attribute returns the value of an element's attribute.
func (p *FirefoxPage) Attribute(selector, name string) (value string) {
	p.t.Helper()
	p.evaluate(fmt.Sprintf(`document.querySelector(%q).getAttribute(%q)`, selector, name), &value)
	return value
}

// URL is the address of the page.
func (p *FirefoxPage) URL() (url string) {
	p.t.Helper()
	p.evaluate(`location.href`, &url)
	return url
}

// Faults returns what the browser has complained about since the start.
func (p *FirefoxPage) Faults() []string {
	p.t.Helper()
	p.URL() // what came before its answer is here now
	for {
		select {
		case event := <-p.events:
			p.note(event)
		default:
			return p.faults
		}
	}
}

// note keeps an event that is a complaint.
func (p *FirefoxPage) note(event message) {
	if event.Method == "log.entryAdded" && strings.Contains(string(event.Params), `"level":"error"`) {
		p.faults = append(p.faults, string(event.Params))
	}
}

// evaluate runs an expression; into nil leaves the result alone.
func (p *FirefoxPage) evaluate(expression string, into *string) {
	p.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails struct{ Text string }
	}
	p.call("script.evaluate", map[string]any{
		"expression": expression, "target": map[string]any{"context": p.context}, "awaitPromise": false,
	}, &got)
	text, ok := got.Result.Value.(string)
	switch {
	case got.ExceptionDetails.Text != "":
		p.t.Fatalf("%s: %s, at %s", expression, got.ExceptionDetails.Text, p.URL())
	case into != nil && !ok:
		p.t.Fatalf("%s: %v is no text", expression, got.Result.Value)
	case into != nil:
		*into = text
	}
}

func (p *FirefoxPage) call(method string, params, into any) {
	p.t.Helper()
	if err := p.session.call(method, params, into); err != nil {
		p.t.Fatal(err)
	}
}
