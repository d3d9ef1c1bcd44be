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
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("no Chromium on the PATH (looked for %q)", names)
	}
	b := launch(t, path)
	p := &Page{t: t, b: b}
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	p.session = session.SessionID
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Audits.enable"} {
		p.call(domain, nil, nil)
	}
	return p
}

// browser is the process and the pipe to it.
type browser struct {
	to io.Writer

	mu     sync.Mutex
	last   int
	wait   map[int]chan message // calls that are not answered yet
	events chan message
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

func launch(t *testing.T, path string) *browser {
	t.Helper()
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{to: in, wait: map[int]chan message{}, events: make(chan message, 10_000)}
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
func (b *browser) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			close(b.events)
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) != nil {
			continue
		}
		if m.ID == 0 {
			b.events <- m
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

// call sends one command and waits for its answer.
func (b *browser) call(session, method string, params any, into any) error {
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
