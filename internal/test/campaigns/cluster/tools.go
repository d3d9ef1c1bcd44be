package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/event"
)

// publisher registers capabilities at one node; the bus of every other one lists them, until they are
// removed.
type publisher struct {
	*actor
	bearer string
	member string // that is registered; "": none is
	count  int
}

const maxTools = 6

func (p *publisher) step() {
	switch {
	case p.bearer == "":
		if app := p.makeApp(p.node(), "Agent", "enterprise"); app != nil {
			p.bearer, _ = p.machine(p.way(), *app)
		}
	case p.member == "" || p.count%maxTools != 0:
		p.register()
	default:
		p.remove()
	}
	p.pause(400 * time.Millisecond)
}

// register sends the next revision of a capability, with as many tools.
func (p *publisher) register() {
	if p.member == "" {
		p.member = p.fresh("c")
	}
	p.count++
	tool := fmt.Sprintf("%s__r%d", p.member, p.count)
	a := p.send(p.node(), http.MethodPost, "/api/console/capabilities/register",
		fmt.Sprintf(`{"member":%q,"upstream_url":"http://127.0.0.1:1","tools_static":[{"name":"r%d","httpMethod":"get","path":"/x"}]}`, p.member, p.count),
		"Cookie", p.session(), "Content-Type", "application/json")
	switch {
	case a.unknown:
		p.lostSight("capability registered")
		p.member = "" // whether it is there nobody knows
	case a.status != http.StatusOK:
		p.violated("a registration is answered %v", a)
	default:
		p.did("capability registered")
		p.trail.owe(event.Registration, a.id())
		p.watch("capability registered", tool, true, a.done)
	}
}

func (p *publisher) remove() {
	p.count++
	tool := p.member + "__"
	a := p.send(p.node(), http.MethodDelete, "/api/console/capabilities/"+p.member, "", "Cookie", p.session())
	p.member = ""
	switch {
	case a.unknown:
		p.lostSight("capability removed")
	case a.status != http.StatusOK:
		p.violated("a removal is answered %v", a)
	default:
		p.did("capability removed")
		p.trail.owe(event.Registration, a.id())
		p.watch("capability removed", tool, false, a.done)
	}
}

// watch waits until every bus lists a tool, or none does. The next change comes only then: one that
// overtakes it would hide it.
func (p *publisher) watch(what, tool string, listed bool, acked time.Time) {
	done := p.everyNode(what, acked, func(node int) (bool, bool, answer) {
		a := p.send(node, http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
			"Authorization", "Bearer "+p.bearer, "Content-Type", "application/json", "Accept",
			"application/json, text/event-stream")
		var list struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if !a.unknown && (json.Unmarshal(a.body, &list) != nil || a.status != http.StatusOK) {
			p.violated("tools/list is answered %v", a)
		}
		found := false
		for _, t := range list.Result.Tools {
			found = found || strings.HasPrefix(t.Name, tool)
		}
		return found == listed, a.unknown, a
	})
	<-done
}
