package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
)

// Streams and callers who leave early hold on to things for longer than a request takes: what is not given back
// then is a leak that no other act shows.

// begin sends a request, and returns when the answer has begun. Nobody has read its body.
func (p *person) begin(ctx context.Context, method, path, body string, headers ...string) (*http.Response, answer) {
	r, err := p.request(method, path, body, headers...)
	a := answer{sent: time.Now(), err: err}
	if err != nil {
		return nil, a
	}
	resp, err := p.web.Do(r.WithContext(ctx))
	var of *balancer.NodeError
	if a.err, a.done = err, time.Now(); err == nil {
		a.took(resp)
	} else if errors.As(err, &of) {
		a.node = strconv.Itoa(of.Node)
	}
	return resp, a
}

// stream reads what a service behind the gateway sends piece by piece. It is charged as any call.
func (p *person) stream() {
	if !p.program() {
		return
	}
	a := p.get("/svc/stream", "Authorization", "Bearer "+p.machine)
	if a.err == nil && a.status == http.StatusOK && bytes.Count(a.body, []byte("\n")) != pieces {
		p.meter.wrong("stream", "there are pieces missing: %v", a)
	}
	p.ledger("svc", "stream", a)
}

// leaves bounds the patience of somebody who does not want to know.
const leaves = 30 * time.Millisecond

// leave hangs up on a call that is under way. Whether it is charged nobody knows, so it is one of a product of its own.
func (p *person) leave() {
	if !p.program() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), leaves)
	defer stop()
	p.bills["left"].sent.Add(1)
	if resp, _ := p.begin(ctx, http.MethodGet, "/left/slow", "", "Authorization", "Bearer "+p.machine); resp != nil {
		resp.Body.Close()
	}
}

// listening asks the bus to be told of changes.
const listening = `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{
"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// listen opens a stream of the bus, reads its first event and hangs up.
func (p *person) listen() {
	if !p.program() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	resp, a := p.begin(ctx, http.MethodPost, "/api/mcp", listening, "Authorization", "Bearer "+p.machine, "Content-Type",
		"application/json",
		"Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method",
		"subscriptions/listen")
	acknowledged := false
	if resp != nil {
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		}
		acknowledged = strings.Contains(lines.Text(), "notifications/subscriptions/acknowledged")
		a.err, a.done, a.body = lines.Err(), time.Now(), lines.Bytes()
	}
	p.meter.note("stream of the bus", a, acknowledged)
}
