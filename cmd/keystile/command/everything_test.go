package command

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/said"
)

const nodeFolder = "../../../internal/test/campaigns/peers/node"

// everythingServer starts the official everything-server of MCP and returns its URL.
func everythingServer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts another program")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(nodeFolder + "/node_modules/@modelcontextprotocol/server-everything"); err != nil {
		t.Skip("the everything-server is not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	cmd := exec.CommandContext(t.Context(), "node", "everything.mjs")
	cmd.Dir = nodeFolder
	out, ended := said.New(), make(chan struct{})
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	return out.Find(t, ended, `everything at (\S+)`)
}

// mcpClient speaks MCP 2025-11-25 to a server.
type mcpClient struct {
	*testing.T
	url, bearer, session string
}

// ask returns the result of a request, nil for a notification.
func (c *mcpClient) ask(method, params string) map[string]any {
	c.Helper()
	body := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`
	if strings.HasPrefix(method, "notifications/") {
		body = `{"jsonrpc":"2.0","method":"` + method + `"}`
	}
	r, err := http.NewRequestWithContext(c.Context(), "POST", c.url, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept":               "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": c.session, "Authorization": c.bearer} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode > 299 {
		c.Fatalf("%s = %d %s, %v", method, resp.StatusCode, text, err)
	}
	for line := range bytes.Lines(text) {
		var m struct {
			ID     json.RawMessage
			Result map[string]any
		}
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: "))
		if json.Unmarshal(line, &m) == nil && string(m.ID) == "7" && m.Result != nil {
			return m.Result
		}
	}
	if body[len(body)-2] == '}' {
		c.Fatalf("%s = %d %s, want a result", method, resp.StatusCode, text)
	}
	return nil
}

func (c *mcpClient) connect() {
	c.Helper()
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	c.ask("notifications/initialized", "")
}

func (c *mcpClient) tools() map[string]map[string]any {
	c.Helper()
	out := map[string]map[string]any{}
	list, _ := c.ask("tools/list", `{}`)["tools"].([]any)
	for i, v := range list {
		tool := v.(map[string]any)
		tool["at"] = fmt.Sprintf("/tools/%d", i)
		out[strings.TrimPrefix(tool["name"].(string), "every__")] = tool
	}
	return out
}

// The descriptions of a server's tools and their answers come through the bus as they are, or are listed as left out.
func TestToolsOfTheEverythingServerComeThroughWhole(t *testing.T) {
	at := everythingServer(t)
	s := start(t, t.TempDir(), "--upstreams-allow-private", "127.0.0.1")
	registered(t, s, `{"member":"every","upstream_url":"`+at+`"}`, 200)
	resp, text := get(t, http.DefaultClient, s.base+"/api/console/capabilities/every", "Cookie",
		cookieOf(t, s).String())
	var stored struct {
		Data struct {
			Skipped []struct{ Pointer, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(text), &stored); err != nil || resp.StatusCode != 200 {
		t.Fatalf("the capability is %d %s, %v", resp.StatusCode, text, err)
	}
	left := map[string]string{}
	for _, skip := range stored.Data.Skipped {
		left[skip.Pointer] = skip.Reason
	}
	direct, bus := &mcpClient{T: t, url: at}, &mcpClient{T: t, url: s.base + "/api/mcp", bearer: "Bearer " +
		ownToken(t, s)}
	direct.connect()
	bus.connect()
	theirs, ours := direct.tools(), bus.tools()
	if len(theirs) < 10 || len(ours) != len(theirs)-1 || len(left) != 1 {
		t.Fatalf("%d tools there, %d on the bus; left out: %v", len(theirs), len(ours), left)
	}
	calls := map[string]string{
		"echo": `{"message":"héllo 😀"}`, "get-annotated-message": `{"messageType":"error","includeImage":true}`,
		"get-env": `{}`, "get-resource-links": `{"count":3}`,
		"get-resource-reference": `{"resourceType":"Blob","resourceId":2}`,
		"get-structured-content": `{"location":"Chicago"}`, "get-sum": `{"a":1.5,"b":2}`, "get-tiny-image": `{}`,
		"gzip-file-as-resource":    `{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`,
		"toggle-simulated-logging": `{}`, "toggle-subscriber-updates": `{}`,
		"trigger-long-running-operation": `{"duration":0.1,"steps":2}`,
	}
	for name, there := range theirs {
		here := ours[name]
		if here == nil {
			if why := left[there["at"].(string)]; !strings.Contains(why, "task") {
				t.Errorf("%s is not on the bus: %q", name, why)
			}
			continue
		}
		sameTool(t, name, there, here)
		arguments, known := calls[name]
		if !known {
			t.Errorf("%s is new: give arguments for it", name)
			continue
		}
		want := direct.ask("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
		got := bus.ask("tools/call", `{"name":"every__`+name+`","arguments":`+arguments+`}`)
		for _, member := range []string{"content", "structuredContent", "isError"} {
			if w, g := stable(want[member]), stable(got[member]); w != g {
				t.Errorf("%s answers by the bus, in %s,\n%.2000s\nwant\n%.2000s", name, member, g, w)
			}
		}
	}
}

// sameTool compares a tool of the server with that of the bus, member by member.
func sameTool(t *testing.T, name string, there, here map[string]any) {
	t.Helper()
	for member, want := range there {
		got := here[member]
		switch member {
		case "name":
			want = "every__" + name
		case "at":
			continue
		case "execution": // which says by its default that the tool runs at once
			if got == nil && reflect.DeepEqual(want, map[string]any{"taskSupport": "forbidden"}) {
				continue
			}
		case "inputSchema", "outputSchema": // in the dialect of 2020-12, which is that of a schema that names none
			delete(want.(map[string]any), "$schema")
			sorted(want)
			sorted(got)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the %s %v, want %v", name, member, got, want)
		}
	}
}

// sorted sorts the names in each list of required ones, which are a set.
func sorted(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			sorted(item)
		}
	case map[string]any:
		for key, member := range v {
			if names, is := member.([]any); is && key == "required" {
				slices.SortFunc(names, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			sorted(member)
		}
	}
}

var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]+:[0-9]+:[0-9]+( ` +
	`[AP]M)?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)

var blob = regexp.MustCompile(`"blob":"([A-Za-z0-9+/=]*)"`)

// stable is a value as JSON, with bytes as they are and without session ids and times.
func stable(v any) string {
	text, _ := json.Marshal(v)
	plain := blob.ReplaceAllStringFunc(string(text), func(member string) string {
		raw, err := base64.StdEncoding.DecodeString(blob.FindStringSubmatch(member)[1])
		return fmt.Sprintf("%q %v", raw, err)
	})
	return changing.ReplaceAllString(plain, "…")
}
