package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/websocket"
)

// bidi is a session of WebDriver BiDi (https://w3c.github.io/webdriver-bidi): commands are answered by their id, and
// events come whenever they like.
type bidi struct {
	socket *websocket.Conn

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	hearers map[string]chan message // by the context of the tab
	gone    chan struct{}           // closed when the browser has gone away
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
	Says   string          `json:"message"`
}

// remoteOrigin is the origin that Firefox is told to take commands from.
const remoteOrigin = "http://127.0.0.1"

func dialBidi(address string) (*bidi, error) {
	socket, err := websocket.Dial(address+"/session", "", remoteOrigin)
	if err != nil {
		return nil, err
	}
	socket.MaxPayloadBytes = 64 << 20
	b := &bidi{
		socket: socket, waiting: map[int]chan message{}, hearers: map[string]chan message{}, gone: make(chan struct{}),
	}
	go b.read()
	if err := b.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil); err != nil {
		return nil, err
	}
	events := []string{"browsingContext.load", "log.entryAdded"}
	return b, b.call("session.subscribe", map[string]any{"events": events}, nil)
}

// read hands each message to the caller that waits for it.
func (b *bidi) read() {
	defer close(b.gone)
	for {
		var m message
		if err := websocket.JSON.Receive(b.socket, &m); err != nil {
			return
		}
		b.mu.Lock()
		to := b.waiting[m.ID]
		if m.Method != "" {
			to = b.hearers[contextOf(m)]
		}
		b.mu.Unlock()
		if to == nil {
			continue
		}
		select {
		case to <- m:
		default: // nobody reads: whoever does later waits in vain, and says so
		}
	}
}

// contextOf returns the tab that an event belongs to.
func contextOf(event message) string {
	var of struct {
		Context string
		Source  struct{ Context string }
	}
	json.Unmarshal(event.Params, &of)
	return of.Context + of.Source.Context // it has one of them
}

// hear returns a channel of the events of a tab.
func (b *bidi) hear(context string) <-chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hearers[context] = make(chan message, 10_000)
	return b.hearers[context]
}

// call runs one command. It fails if the browser refuses it or does not answer.
func (b *bidi) call(method string, params, into any) error {
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = answer
	err := websocket.JSON.Send(b.socket, map[string]any{"id": id, "method": method, "params": params})
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting, id)
	}()
	select {
	case m := <-answer:
		if m.Error != "" {
			says, _, _ := strings.Cut(m.Says, "\n")
			return fmt.Errorf("%s: %s: %s", method, m.Error, says)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(m.Result, into)
	case <-b.gone:
		return errors.New("the browser has gone away")
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}
