package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/crash/internal/hooks"
)

// publisher registers capabilities, replaces and removes them, at the console. A receiver
// is told of each change.
type publisher struct {
	*life
	rand     *rand.Rand
	receiver *hooks.Receiver
	count    int
	app      *application // whose token sees the tools
	alive    []*capability
}

// capability is one that is registered. Revision n has n tools, so that what is told of it
// shows which one it was.
type capability struct {
	member   string
	revision int
	tool     *thing // the first tool of the revision
}

const (
	maxCapabilities = 5
	maxRevision     = 6
)

func (p *publisher) work(l *life) {
	p.life = l
	for l.alive() {
		if err := p.step(); err != nil {
			p.settle()
			return
		}
	}
}

// settle leaves a capability alone whose last change nobody has answered: the check finds
// out what became of it.
func (p *publisher) settle() {
	known := p.alive[:0]
	for _, c := range p.alive {
		if c.tool.pending == nil {
			known = append(known, c)
		}
	}
	p.alive = known
}

func (p *publisher) step() (err error) {
	n := p.rand.IntN(maxCapabilities)
	switch {
	case p.app == nil:
		p.app, err = p.makeApp("Agent", "enterprise")
		return err
	case n >= len(p.alive):
		p.count++
		return p.register(&capability{member: fmt.Sprintf("c%d", p.count)})
	case p.alive[n].revision < maxRevision && p.rand.IntN(2) == 0:
		return p.register(p.alive[n])
	}
	return p.remove(n)
}

// register sends the next revision.
func (p *publisher) register(c *capability) error {
	what, event, turns := replace, "capability.updated", []*thing{c.tool}
	if c.tool == nil {
		what, event, turns = register, "capability.registered", nil
	}
	revision := c.revision + 1
	next := p.journal.add(&thing{kind: aTool, name: fmt.Sprintf("%s__r%d", c.member, revision), ended: true},
		"not registered")
	asked := p.journal.begin(what, append(turns, next)...)
	asked.then = func() { p.receiver.Expect(c.member, event, revision) }
	if c.tool == nil {
		c.tool = next // for settle
		p.alive = append(p.alive, c)
	}
	a, err := p.send(http.MethodPost, "/api/console/capabilities/register", p.document(c.member, revision), "Cookie",
		p.cookie, "Content-Type", "application/json")
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		p.journal.violated(next, "its registration is answered %v", a)
		return errGone
	}
	p.done(asked, a.id())
	c.revision, c.tool = revision, next
	return nil
}

func (p *publisher) document(member string, revision int) string {
	var tools []string
	for i := range revision {
		tools = append(tools, `{"name":"`+toolName(revision, i)+`","httpMethod":"get","path":"/x"}`)
	}
	return `{"member":"` + member + `","upstream_url":"http://127.0.0.1:1","webhook_url":"` + p.receiver.URL() + `","tools_static":[` + strings.Join(tools, ",") + `]}`
}

// toolName is the name of one of the tools of a revision.
func toolName(revision, i int) string {
	if i == 0 {
		return fmt.Sprintf("r%d", revision)
	}
	return fmt.Sprintf("x%d", i)
}

func (p *publisher) remove(n int) error {
	c := p.alive[n]
	asked := p.journal.begin(remove, c.tool)
	asked.then = func() { p.receiver.Expect(c.member, "capability.removed", c.revision) }
	a, err := p.send(http.MethodDelete, "/api/console/capabilities/"+c.member, "", "Cookie", p.cookie)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		p.journal.violated(c.tool, "its removal is answered %v", a)
		return errGone
	}
	p.alive = append(p.alive[:n:n], p.alive[n+1:]...)
	p.done(asked, a.id())
	return nil
}

// catchesUp is the time within which the bus of every server lists what is registered. It reads the
// capabilities each 5 seconds, and a read that the kill of a database has met waits for its end.
const catchesUp = 15 * time.Second

// check asks for the list of the bus, from which the questions about tools are answered. Where servers
// share a database, each has to come to list what is stored.
func (p *publisher) check(l *life) error {
	if p.app == nil {
		return nil
	}
	bearer, err := l.machine(p.app)
	if err != nil {
		return err
	}
	for end := time.Now().Add(catchesUp); ; time.Sleep(50 * time.Millisecond) {
		if l.tools, err = l.listTools(bearer); err != nil || !l.shared {
			return err
		}
		differing, err := l.differing(bearer)
		switch {
		case err != nil || differing == "":
			return err
		case time.Now().After(end):
			l.journal.violated(nil, "%v after a kill the bus lists other tools than are registered: %s", catchesUp, differing)
			return nil
		}
	}
}

// differing compares the lists of all servers with what is stored. It is "" if they agree.
func (l *life) differing(bearer string) (string, error) {
	stored, err := l.storedTools()
	if err != nil {
		return "", err
	}
	for range l.targets {
		listed, err := l.listTools(bearer)
		if err != nil {
			return "", err
		}
		if !maps.Equal(listed, stored) {
			return fmt.Sprintf("%v, and there are %v", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(stored))), nil
		}
	}
	l.tools = stored
	return "", nil
}

// storedTools are the tools of the capabilities that the console shows.
func (l *life) storedTools() (map[string]bool, error) {
	a, err := l.get("/api/console/capabilities", "Cookie", l.cookie)
	if err != nil {
		return nil, err
	}
	var all struct {
		Data []struct {
			Member string
			Tools  int `json:"tool_count"`
		}
	}
	if err := json.Unmarshal(a.body, &all); err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("the capabilities are answered %v", a)
	}
	tools := map[string]bool{}
	for _, c := range all.Data {
		for i := range c.Tools {
			tools[c.Member+"__"+toolName(c.Tools, i)] = true
		}
	}
	return tools, nil
}

// listTools reads the list of one server's bus.
func (l *life) listTools(bearer string) (map[string]bool, error) {
	tools := map[string]bool{}
	for cursor := ""; ; {
		params, _ := json.Marshal(map[string]string{"cursor": cursor})
		if cursor == "" {
			params = []byte("{}")
		}
		a, err := l.send(http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":`+string(params)+`}`,
			"Authorization", "Bearer "+bearer, "Content-Type", "application/json", "Accept",
			"application/json, text/event-stream")
		if err != nil {
			return nil, err
		}
		var list struct {
			Result struct {
				Tools []struct{ Name string }
				Next  string `json:"nextCursor"`
			}
		}
		if err := json.Unmarshal(a.body, &list); err != nil || a.status != http.StatusOK || list.Result.Tools == nil {
			return nil, fmt.Errorf("tools/list is answered %v", a)
		}
		for _, t := range list.Result.Tools {
			tools[t.Name] = true
		}
		if cursor = list.Result.Next; cursor == "" {
			return tools, nil
		}
	}
}

// probeTool looks into the list of the bus.
func (l *life) probeTool(t *thing) (probed, error) {
	return probed{works: l.tools[t.name], answer: answer{status: http.StatusOK,
		body: fmt.Append(nil, "the bus lists ", slices.Sorted(maps.Keys(l.tools)))}}, nil
}
