package fileservers

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// upstream is a server as the bus calls it.
type upstream struct {
	bus     *mcpbus.Upstreams
	address string
}

// withEach runs a test against each server that is there.
func withEach(t *testing.T, test func(*testing.T, *upstream)) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) { test(t, &upstream{invoker(t), s.start(t, folder(t))}) })
	}
}

// invoker returns what calls the tools of the bus.
func invoker(t *testing.T) *mcpbus.Upstreams {
	t.Helper()
	u, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close(t.Context()) })
	return u
}

// tool has arguments in its path, each written as p is.
func tool(template string, p toolplan.Param, args ...string) toolplan.Tool {
	properties, call := map[string]any{}, &toolplan.Call{Template: template}
	for _, name := range args {
		properties[name] = map[string]any{}
		p.Arg, p.Name, p.In, p.Required = name, name, "path", true
		call.Params = append(call.Params, p)
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return toolplan.Tool{Name: template + p.Style, Method: "get", Description: "a file", InputSchema: schema, Call: call}
}

// versions makes every tool a new one to the plans that the invoker remembers.
var versions int64

func (u *upstream) call(t *testing.T, tool toolplan.Tool, arguments map[string]any) mcpbus.Result {
	t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	versions++
	c := storage.Capability{Member: "files", UpstreamURL: "http://" + u.address, AuthType: "bearer",
		AuthSecret: storage.NewSecret(key), Version: versions}
	r, err := u.bus.Call(t.Context(), c, tool, text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (u *upstream) wantNothing(t *testing.T, r mcpbus.Result, template string, arguments any) {
	t.Helper()
	if text := textOf(r); strings.Contains(text, outside) {
		t.Errorf("%s with %q gives %q", template, arguments, text)
	}
}

func textOf(r mcpbus.Result) string {
	var out []string
	for _, block := range r.Content {
		var content struct{ Text string }
		json.Unmarshal(block, &content)
		out = append(out, content.Text)
	}
	return strings.Join(out, "\n")
}
