package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// workshop is a fixture with an upstream over HTTP that takes its time: slow__hang answers never,
// and slow__long after a while, of which the bus tells each second.
type workshop struct {
	*fixture
	arrived, ended chan struct{} // at the upstream: a call that hangs
}

const long = 2500 * time.Millisecond

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{arrived: make(chan struct{}, 10), ended: make(chan struct{}, 10)}
	upstream := serve(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			w.arrived <- struct{}{}
			<-r.Context().Done()
			w.ended <- struct{}{}
			return
		}
		select {
		case <-time.After(long):
			out.Header().Set("Content-Type", "application/json")
			io.WriteString(out, `{"late":true}`)
		case <-r.Context().Done():
		}
	}))
	upstreams := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: quiet}))(t)
	t.Cleanup(func() { upstreams.Close(context.Background()) })
	w.fixture = newFixture(t, func(c *mcpbus.Config) { c.Invoker, c.Progress = mixed{upstreams}, time.Second })
	var list []toolplan.Tool
	for _, name := range []string{"hang", "long"} {
		list = append(list, toolplan.Tool{
			Name: name, Method: "get", Path: "/" + name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`), Call: &toolplan.Call{Template: "/" + name},
		})
	}
	c := storage.Capability{Member: "slow", Kind: storage.CapabilityREST, UpstreamURL: upstream, Publish: true,
		Owner: "u1", Timeout: 60}
	must(w.store.SaveCapability(t.Context(), c, list))(t)
	if err := w.bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// mixed calls the slow upstream over HTTP, and echoes all else.
type mixed struct{ upstreams *mcpbus.Upstreams }

func (m mixed) Call(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	if c.Member == "slow" {
		return m.upstreams.Call(ctx, c, t, arguments)
	}
	return echo{}.Call(ctx, c, t, arguments)
}

// wait waits for a sign of the upstream's; patience is for a machine that is busy.
func wait(t *testing.T, sign chan struct{}, what string) {
	t.Helper()
	select {
	case <-sign:
	case <-time.After(20 * time.Second):
		t.Fatalf("the upstream never saw %s", what)
	}
}

func TestGoSDKCancelsACallAndHearsOfALongOne(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			w := newWorkshop(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var mu sync.Mutex
			var told []float64
			client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, r.Params.Progress)
				},
			})
			transport := &mcp.StreamableClientTransport{Endpoint: w.url + "/api/mcp",
				HTTPClient: &http.Client{Transport: bearing(w.bearer)}, MaxRetries: -1}
			session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			call, leave := context.WithCancel(ctx)
			var left time.Time
			go func() { <-w.arrived; left = time.Now(); leave() }()
			if r, err := session.CallTool(call, &mcp.CallToolParams{Name: "slow__hang"}); err == nil {
				t.Errorf("a cancelled call = %+v", r)
			}
			wait(t, w.ended, "the end of a cancelled call")
			t.Logf("the upstream saw the end of a cancelled call within %v", time.Since(left))
			params := &mcp.CallToolParams{Name: "slow__long"}
			for _, asks := range []bool{false, true} {
				if asks {
					params.Meta = mcp.Meta{"progressToken": "t"}
				}
				r, err := session.CallTool(ctx, params)
				if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != `{"late":true}` {
					t.Fatalf("a long call, asking for progress %t = %+v, %v", asks, r, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(told) == 0 || len(told) > 2 || !slices.IsSorted(told) || told[0] < 1 {
				t.Errorf("it was told %v, want the seconds, and nothing of the call that did not ask", told)
			}
		})
	}
}

func TestStockJavaScriptClientsCancelACallAndHearOfALongOne(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("../node/node_modules/@modelcontextprotocol/client"); err != nil {
		t.Skip("the clients are not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	for script, least := range map[string]int{"mcp-v1-time.mjs": 7, "mcp-v2-time.mjs": 14} {
		t.Run(script, func(t *testing.T) {
			w := newWorkshop(t)
			control := http.NewServeMux()
			control.HandleFunc("/arrived", func(http.ResponseWriter, *http.Request) { <-w.arrived })
			control.HandleFunc("/ended", func(http.ResponseWriter, *http.Request) { <-w.ended })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", script)
			cmd.Dir = "../node"
			cmd.Env = append(os.Environ(), "BUS="+w.url+"/api/mcp", "TOKEN="+w.bearer, "CONTROL="+serve(t, control))
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "ok: ") < least {
				t.Errorf("%s: %v\n%s", script, err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// The requests of the Python SDK 1.x, as it sends them: every message a POST of its own, and of
// a call that is cancelled the POST stays open.
func TestRequestsOfThePythonSDKCancelACallAndHearOfALongOne(t *testing.T) {
	w := newWorkshop(t)
	session := ""
	send := func(method, body string) *http.Response {
		t.Helper()
		r := must(http.NewRequestWithContext(t.Context(), method, w.url+"/api/mcp", strings.NewReader(body)))(t)
		for name, value := range map[string]string{
			"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
			"User-Agent":    "python-httpx/0.28.1",
			"Authorization": "Bearer " + w.bearer, "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		return must(http.DefaultClient.Do(r))(t)
	}
	first := send("POST", `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp","version":"0.1.0"}},"jsonrpc":"2.0","id":0}`)
	first.Body.Close()
	if session = first.Header.Get("Mcp-Session-Id"); session == "" {
		t.Fatalf("initialize = %d %v", first.StatusCode, first.Header)
	}
	send("POST", `{"method":"notifications/initialized","jsonrpc":"2.0"}`).Body.Close()
	cancelled := make(chan string, 1)
	go func() {
		resp := send("POST", `{"method":"tools/call","params":{"name":"slow__hang","arguments":{}},"jsonrpc":"2.0","id":1}`)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		cancelled <- fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Content-Type"), " ", string(text), err)
	}()
	wait(t, w.arrived, "a call")
	left := time.Now()
	told := send("POST", `{"method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"},"jsonrpc":"2.0"}`)
	told.Body.Close()
	wait(t, w.ended, "the end of a cancelled call")
	t.Logf("the upstream saw the end of a cancelled call within %v", time.Since(left))
	if said := <-cancelled; told.StatusCode != 202 || said != "200 text/event-stream : cancelled\n\n<nil>" {
		t.Errorf("to cancel = %d, and the call %q", told.StatusCode, said)
	}

	resp := send("POST", `{"method":"tools/call","params":{"_meta":{"progressToken":2},"name":"slow__long","arguments":{}},"jsonrpc":"2.0","id":2}`)
	defer resp.Body.Close()
	var events []string
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			events = append(events, data)
		}
	}
	if len(events) < 2 || !strings.Contains(events[0], `"method":"notifications/progress","params":{"progressToken":2,"progress":`) || !strings.Contains(events[len(events)-1], `"id":2,"result":`) {
		t.Errorf("a long call = %d %q", resp.StatusCode, events)
	}
	end := send("DELETE", "")
	end.Body.Close()
	if end.StatusCode != 405 {
		t.Errorf("the end of a session = %d, want 405: it cannot be ended, because nobody keeps it", end.StatusCode)
	}
}
