package mcpbus_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// crowd answers when so many wait for an answer.
type crowd struct {
	together *sync.WaitGroup
	body     string
}

func (c crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	c.together.Done()
	c.together.Wait()
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(c.body)),
		ContentLength: int64(len(c.body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// executor calls tools by HTTP.
type executor struct{ caller *restcall.Caller }

func (e executor) Call(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	plan, err := restcall.Compile(t)
	if err != nil {
		return mcpbus.Result{}, err
	}
	r, err := e.caller.Call(ctx, restcall.Upstream{BaseURL: c.UpstreamURL, AuthType: c.AuthType, Secret: c.AuthSecret},
		plan, arguments)
	return mcpbus.FromREST(r), err
}

// The allocations of a call are the most that it can hold: 64 at the same time hold no more than 64
// times that, whatever the garbage collector does.
func TestSoManyCallsAtATimeHoldSoMuch(t *testing.T) {
	for name, c := range map[string]struct {
		calls, answer int
		piece         string
		most          uint64 // bytes for each byte of the answer; the race detector drops pooled buffers
	}{
		"plain":   {64, 128 << 10, `{"id":42,"name":"Rex","tags":["a","b"]},`, 28},
		"escapes": {2, 1 << 20, `"\u0073\"\\",`, 32},
		"control": {2, 1 << 20, "\x01", 90}, // no JSON, and each is written as \u0001
	} {
		body := `[` + strings.Repeat(c.piece, (c.answer-len(`[0]`))/len(c.piece)) + `0]`
		var together sync.WaitGroup
		h := emptyFixture(t)
		for _, member := range []string{"a", "b", "c"} {
			h.register(secured(capability(member, "https://"+member+".example.com")), rest("get", "x"))
		}
		for _, bearer := range []string{"0", "1", "2", "3", "4"} {
			h.tokens.give(bearer, storage.Caller{AppID: "app" + bearer, Scope: "app", Audience: issuer}, time.Hour)
		}
		h.open(func(b *mcpbus.Config) {
			b.Invoker = executor{must(restcall.New(restcall.Config{Transport: crowd{&together, body}}))(t)}
		})
		together.Add(c.calls)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var all sync.WaitGroup
		for i := range c.calls {
			all.Go(func() {
				r := request(t.Context(), legacyBody("tools/call", `{"name":"`+string("abc"[i%3])+`__x"}`), "Authorization", "Bearer "+string("01234"[i%5]))
				w := &counted{ResponseRecorder: httptest.NewRecorder()}
				if h.bus.ServeHTTP(w, r); w.Code != 200 || w.size < len(body) {
					t.Errorf("%s: call %d = %d, %d bytes", name, i, w.Code, w.size)
				}
			})
		}
		all.Wait()
		runtime.ReadMemStats(&after)
		each := (after.TotalAlloc - before.TotalAlloc) / uint64(c.calls)
		if each > c.most*uint64(c.answer) {
			t.Errorf("%s: a call allocates %d KiB, want at most %d times its answer", name, each>>10, c.most)
		}
	}
}

func secured(c storage.Capability) storage.Capability {
	c.AuthType, c.AuthSecret = "bearer", storage.NewSecret("sk-live-0123456789")
	return c
}

// counted drops what is written.
type counted struct {
	*httptest.ResponseRecorder
	size int
}

func (c *counted) Write(b []byte) (int, error) {
	c.size += len(b)
	return len(b), nil
}
