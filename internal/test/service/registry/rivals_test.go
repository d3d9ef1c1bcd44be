package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// Decision 36.
func TestRegistrationsOfOneNameAtOnceAreStoredWhole(t *testing.T) {
	h := newFixture(t)
	mina, ada := h.developer("mina"), h.developer("ada")
	var all sync.WaitGroup
	answers := make([]response, 8)
	for i := range answers {
		all.Go(func() {
			cookie := []string{mina, ada}[i%2]
			answers[i] = h.register(cookie, fmt.Sprintf(`{"member":"shop","label":"l%d","upstream_url":"https://u%[1]d.example.com","auth_type":"bearer","auth_secret":"s%[1]d","openapi":%s}`, i, document(fmt.Sprint("t", i))))
		})
	}
	all.Wait()
	won := map[int]int{}
	for i, a := range answers {
		if a.status != 200 && a.status != 403 {
			t.Errorf("registration %d = %d %s, want 200, or 403 for who came too late", i, a.status, a.text)
		}
		if a.status == 200 {
			won[i%2]++
		}
	}
	if len(won) != 1 || won[0]+won[1] != 4 {
		t.Errorf("%v registrations of each were taken, want four, all of one developer", won)
	}
	var n int
	got := h.stored("shop")
	fmt.Sscanf(got, "shop rest https://u%d.", &n)
	if want := fmt.Sprintf(`shop rest https://u%d.example.com "l%[1]d" bearer/s%[1]d publish=true t%[1]d`, n); got != want {
		t.Errorf("stored is %s, want %s", got, want)
	}
}

func TestChangeThatIsOvertakenIsMadeAnewAFewTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("is overtaken a thousand times")
	}
	for _, overtaken := range []int{1, 9, 1000} {
		h := newFixture(t)
		mina := h.developer("mina")
		h.want(h.register(mina, standard("shop", "old")), 200, 1, "the first")
		left := overtaken
		rival := func(docs []driver.Doc) error {
			if left--; left >= 0 && slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == "capability" }) {
				return storage.ErrConflict
			}
			return nil
		}
		h.backend.before(rival, nil)
		a := h.register(mina, standard("shop", "new"))
		if overtaken == 1000 {
			if h.want(a, 503, 503, "overtaken for ever"); a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			left = 1000
			h.want(h.request("DELETE", all+"/shop", mina, nil), 503, 503, "a removal, overtaken for ever")
			continue
		}
		h.want(a, 200, 1, fmt.Sprintf("overtaken %d times", overtaken))
		left = overtaken
		h.want(h.request("DELETE", all+"/shop", mina, nil), 200, 1, "a removal")
	}
}

func TestFailureLeavesWhatWasThere(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		puts   func([]driver.Doc) error
		gets   func(string) error
	}{
		{"a disk that is full", 503, func([]driver.Doc) error { return errors.New("disk full") }, nil},
		{"a panic", 500, func([]driver.Doc) error { panic("a bug") }, nil},
		{"a panic while reading", 500, nil, func(kind string) error {
			if kind == "capability" {
				panic("a bug")
			}
			return nil
		}},
		{"a store that is away", 503, nil, func(string) error { return errors.New("away") }},
	} {
		h := newFixture(t)
		mina := h.developer("mina")
		h.want(h.register(mina, standard("shop", "old")), 200, 1, "the first")
		before, received := h.stored("shop"), h.reloads
		h.backend.before(c.puts, c.gets)
		for range 3 { // more than there are places to read in
			h.want(h.register(mina, standard("shop", "new")), c.status, c.status, c.name)
		}
		h.backend.before(nil, nil)
		if got := h.stored("shop"); got != before || h.reloads != received || len(h.events) != 1 {
			t.Errorf("%s: stored is %s, want %s; told %d times, noted %d", c.name, got, before, h.reloads, len(h.events))
		}
		h.want(h.register(mina, standard("shop", "new")), 200, 1, "the next, after "+c.name)
	}
}

func TestParsingRunsTwoDocumentsAtATimeAndThoseWhoLeaveDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		entered, leave := make(chan string, 10), make(chan struct{})
		h.backend.before(func(docs []driver.Doc) error {
			if docs[0].Kind == "capability" {
				entered <- docs[0].ID
				<-leave
			}
			return nil
		}, nil)
		done := make(chan response, 10)
		send := func(ctx context.Context, body string) { // each is a user's first
			developer := h.developer(fmt.Sprint("user", len(body), body[11]))
			go func() { done <- h.requestContext(ctx, "POST", all+"/register", developer, strings.NewReader(body)) }()
			synctest.Wait()
		}
		for _, m := range []string{"a", "b", "c"} {
			send(t.Context(), standard(m, "t"))
		}
		if len(entered) != 2 {
			t.Errorf("%d registrations are past reading, want 2", len(entered))
		}
		ctx, cancel := context.WithCancel(t.Context())
		send(ctx, standard("d", "t"))
		cancel()
		synctest.Wait()
		if a := <-done; a.status != 503 || len(done) != 0 {
			t.Errorf("who left is answered %d, and %d others too, want 503 alone", a.status, len(done))
		}
		send(t.Context(), `{"member":"quick","upstream_url":"https://mcp.example.com"}`)
		if len(entered) != 3 {
			t.Error("a registration without a document waited for those with one")
		}
		close(leave)
		synctest.Wait()
		for range 4 {
			h.want(<-done, 200, 1, "each of those who stayed")
		}
		if h.stored("d") != "" || h.stored("c") == "" || strings.Contains(h.log.String(), "level=ERROR") {
			t.Errorf("stored d %q, c %q; log %s", h.stored("d"), h.stored("c"), h.log)
		}
	})
}

func TestRegistriesOfTwoNodesShareOneStore(t *testing.T) {
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store := must(storage.Open(t.Context(), backend, storage.NewMasterKey()))(t)
	userTable := hosts{"u1": {Sub: "u1", Role: storage.RoleDeveloper}}
	c := registry.Config{BaseURL: base, Store: store, Visitors: userTable, Users: userTable, NoDelivery: true}
	one, two := must(registry.New(t.Context(), c))(t), must(registry.New(t.Context(), c))(t)
	must(one.Register(t.Context(), userTable["u1"], registry.Request{Member: "shop", UpstreamURL: "https://a.example.com",
		OpenAPI: []byte(document("a"))}))(t)
	must(two.Register(t.Context(), userTable["u1"], registry.Request{Member: "shop", UpstreamURL: "https://a.example.com",
		OpenAPI: []byte(document("b"))}))(t)
	if r, err := one.Show(t.Context(), userTable["u1"], "shop"); err != nil || r.Tools[0].Name != "b" {
		t.Errorf("Show() = %v, %v, want what the other node stored", r.Tools, err)
	}
}

func TestToolsThatTheStoreCannotHoldAreTooMuch(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.backend.before(func([]driver.Doc) error { return fmt.Errorf("%w: 5 MiB", storage.ErrInvalid) }, nil)
	a := h.want(h.register(mina, standard("shop", "t")), 400, openapi.ErrcodeTooMuch, "more than the store holds")
	if !strings.Contains(a.body.Msg, "split the document") || h.stored("shop") != "" {
		t.Errorf("%s, stored %q", a.text, h.stored("shop"))
	}
}
