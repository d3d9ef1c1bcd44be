package tools_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

func tool(name string) toolplan.Tool {
	return toolplan.Tool{Name: name, Method: "get", Path: "/" + name, Description: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`),
		Call: &toolplan.Call{Template: "/" + name,
			Params: []toolplan.Param{{Arg: "n", Name: "n", In: "query", Explode: true}}}}
}

func TestCapabilityIsKeptWithItsToolsAndSealedSecrets(t *testing.T) {
	backend := memory.New()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	in := storage.Capability{Member: "pets", Kind: storage.CapabilityREST, UpstreamURL: "https://pets.example",
		AuthType: "bearer", AuthSecret: storage.NewSecret("UPSTREAM-SECRET"), WebhookSecret: storage.NewSecret("HOOK-SECRET"),
		Owner: "u1", Publish: true}
	saved, err := store.SaveCapability(t.Context(), in, []toolplan.Tool{tool("list"), tool("get")})
	if err != nil {
		t.Fatal(err)
	}
	c, tools, err := store.Tools(t.Context(), "pets")
	if err != nil || c.ToolCount != 2 || len(tools) != 2 || !reflect.DeepEqual(tools,
		[]toolplan.Tool{tool("list"), tool("get")}) {
		t.Fatalf("Tools() = %+v, %v, %v", c, tools, err)
	}
	if !c.AuthSecret.Equal("UPSTREAM-SECRET") || !c.WebhookSecret.Equal("HOOK-SECRET") || c.Version != saved.Version ||
		c.CreatedAt.IsZero() {
		t.Errorf("read %+v", c)
	}
	d, err := backend.Get(t.Context(), "capability", "pets")
	if text, _ := json.Marshal(c); err != nil || strings.Contains(string(d.Data)+string(text), "SECRET") {
		t.Error("a secret is stored or written in the clear")
	}
	if _, err := store.SaveCapability(t.Context(), in, nil); !errors.Is(err, storage.ErrExists) {
		t.Errorf("made again: %v, want ErrExists", err)
	}
	if list, _, err := store.Capabilities(t.Context(), "u1", "", 10); err != nil || len(list) != 1 ||
		list[0].ToolCount != 2 {
		t.Errorf("Capabilities(u1) = %v, %v", list, err)
	}
	if list, _, err := store.Capabilities(t.Context(), "u2", "", 10); err != nil || len(list) != 0 {
		t.Errorf("Capabilities(u2) = %v, %v", list, err)
	}
	if err := store.DeleteCapability(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Tools(t.Context(), "pets"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
}

func TestOldToolsAreNeverSeenWithANewUpstream(t *testing.T) {
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.SaveCapability(t.Context(), storage.Capability{Member: "m", UpstreamURL: "0"},
		[]toolplan.Tool{tool("t0")})
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 200 {
			c.UpstreamURL = fmt.Sprint(i)
			if c, err = store.SaveCapability(t.Context(), c, []toolplan.Tool{tool("t" + c.UpstreamURL)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 200 {
		c, tools, err := store.Tools(t.Context(), "m")
		if err == nil && (len(tools) != 1 || tools[0].Name != "t"+c.UpstreamURL) {
			t.Fatalf("upstream %s with %v", c.UpstreamURL, tools)
		}
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	writing.Wait()
}

func TestCallHasTheTimeThatItsCapabilityGives(t *testing.T) {
	for stored, want := range map[int]time.Duration{0: 30 * time.Second, 1: time.Second, 90: 90 * time.Second,
		600: 10 * time.Minute, -1: 30 * time.Second, 601: 10 * time.Minute, 1 << 62: 10 * time.Minute} {
		if got := (storage.Capability{Timeout: stored}).CallTimeout(); got != want {
			t.Errorf("of %d s it is %v, want %v", stored, got, want)
		}
	}
	backend := memory.New()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveCapability(t.Context(), storage.Capability{Member: "slow", Timeout: 90}, nil); err != nil {
		t.Fatal(err)
	}
	if c, err := store.Capability(t.Context(), "slow"); err != nil || c.Timeout != 90 {
		t.Errorf("read are %d s, %v", c.Timeout, err)
	}
}
