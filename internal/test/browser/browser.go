package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// names are what Chromium is called.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// patience bounds every wait: a browser that hangs fails the test.
const patience = 60 * time.Second

// Start runs Chromium until the test ends and returns an empty page. Without Chromium on
// the PATH the test is skipped.
func Start(t *testing.T) *Page {
	t.Helper()
	return Launch(t).Tab(t, Desktop)
}

// Launch runs Chromium until the test ends. Without Chromium on the PATH the test is skipped.
func Launch(t *testing.T) *Browser {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return launch(t, path)
		}
	}
	t.Skipf("no Chromium on the PATH (looked for %q)", names)
	return nil
}

// Tab opens an empty page that shares nothing with any other, no cookie either, until the
// test ends. Tests may use several at once, each from one goroutine.
func (b *Browser) Tab(t *testing.T, d Device) *Page {
	t.Helper()
	p := &Page{t: t, b: b, device: d}
	var own struct{ BrowserContextID string }
	p.call("Target.createBrowserContext", nil, &own)
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": own.BrowserContextID}, &target)
	var session struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	p.events, p.session = b.eventsOf(session.SessionID), session.SessionID
	t.Cleanup(func() {
		b.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": own.BrowserContextID}, nil)
		b.forget(session.SessionID)
	})
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Audits.enable"} {
		p.call(domain, nil, nil)
	}
	p.become(d)
	return p
}

// Browser is the process and the pipe to it.
type Browser struct {
	to io.Writer

	mu     sync.Mutex
	last   int
	wait   map[int]chan message    // calls that are not answered yet
	events map[string]chan message // of each tab
	gone   bool
}

// message is a call, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func launch(t *testing.T, path string) *Browser {
	t.Helper()
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	// Without --allow-pre-commit-input, what is clicked before a page is first drawn is lost.
	cmd := exec.Command(path, "--headless", "--allow-pre-commit-input", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{to: in, wait: map[int]chan message{}, events: map[string]chan message{}}
	read := make(chan struct{})
	go func() { defer close(read); b.read(out) }()
	t.Cleanup(func() {
		in.Close() // Chromium leaves when the pipe does
		killer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer killer.Stop()
		cmd.Wait()
		<-read
		out.Close()
	})
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// read hands answers to those who wait for them and keeps events, until the pipe ends.
func (b *Browser) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			b.end()
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) != nil {
			continue
		}
		if m.ID == 0 {
			b.tell(m)
			continue
		}
		b.mu.Lock()
		answer := b.wait[m.ID]
		delete(b.wait, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// tell hands an event to its tab. Those of tabs that nobody has opened or that are closed
// are lost.
func (b *Browser) tell(m message) {
	b.mu.Lock()
	events := b.events[m.Session]
	b.mu.Unlock()
	if events == nil {
		return
	}
	select {
	case events <- m:
	default: // nobody reads: whoever does later waits in vain, and says so
	}
}

func (b *Browser) eventsOf(session string) chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := make(chan message, 10_000)
	if b.events[session] = events; b.gone {
		close(events)
	}
	return events
}

func (b *Browser) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.events, session)
}

func (b *Browser) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
	for _, events := range b.events {
		close(events)
	}
}

// call sends one command and waits for its answer.
func (b *Browser) call(session, method string, params any, into any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, Session: session, Method: method, Params: raw}
	answer := make(chan message, 1)
	b.wait[m.ID] = answer
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m = <-answer:
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
	switch {
	case m.Error != nil:
		return errors.New(method + ": " + m.Error.Message)
	case into == nil:
		return nil
	}
	return json.Unmarshal(m.Result, into)
}
