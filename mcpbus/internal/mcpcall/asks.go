package mcpcall

import (
	"context"
	"time"
)

// asks answers what an upstream asks in the middle of an exchange: a ping at once, as the protocol demands, and
// everything else with an error, because no capability was offered to it. Answers are sent beside the exchange, whose
// stream is read on: an upstream may wait for either.
type asks struct {
	client *Client
	ctx    context.Context // of the exchange; answers outlive it
	target *target
	link   *link

	queue  chan *message // nil: nothing was asked yet
	cancel context.CancelFunc
}

const (
	maxAsks  = 64  // answers that wait to be sent: an upstream that takes none gets no more
	maxAskID = 256 // bytes of the id of a request
)

// answer answers a message, if it is a request. session is that of the exchange's response.
func (a *asks) answer(m map[string]raw, session string) {
	id := m["id"]
	if _, text := stringOf(id); len(id) > maxAskID || !text && !isNumber(id) {
		return // a notification, or nothing that can be answered
	}
	outcome := `"error":{"code":-32601,"message":"Method not found"}`
	if string(m["method"]) == `"ping"` {
		outcome = `"result":{}`
	}
	if a.queue == nil {
		l := *a.link
		if session != "" { // of a handshake, whose answer gives it out
			l.session = session
		}
		a.start(&l)
	}
	select {
	case a.queue <- &message{reply: `{"jsonrpc":"2.0","id":` + string(id) + `,` + outcome + `}`}:
	default:
	}
}

func (a *asks) start(l *link) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	queue := make(chan *message, maxAsks)
	a.queue, a.cancel = queue, cancel
	a.client.background.beside(cancel, func() {
		for m := range queue {
			one, done := context.WithTimeout(ctx, backgroundTimeout)
			a.client.exchange(one, a.target, l, m) // whether it arrives shows in what the upstream does next
			done()
		}
	})
}

// end lets the answers that wait be sent, for a moment.
func (a *asks) end() {
	if a.queue != nil {
		close(a.queue)
		time.AfterFunc(backgroundTimeout, a.cancel)
	}
}
