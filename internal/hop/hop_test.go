package hop_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/hop"
)

var a, b = hop.ID("https://a.example.com"), hop.ID("https://b.example.com")

// sent is the header of a request that leaves because of another.
func sent(ctx context.Context) http.Header {
	h := http.Header{}
	hop.Mark(ctx, h)
	return h
}

func TestRequestThatComesBackIsKnown(t *testing.T) {
	ctx, ok := hop.Arrive(t.Context(), http.Header{}, a)
	if !ok {
		t.Fatal("a request from outside is refused")
	}
	ctx, ok = hop.Arrive(t.Context(), sent(ctx), b)
	if !ok {
		t.Fatal("b refuses what comes from a")
	}
	if got := sent(ctx).Get(hop.Header); got != a+", "+b {
		t.Errorf("b sends %q, want a and b", got)
	}
	if _, ok := hop.Arrive(t.Context(), sent(ctx), a); ok {
		t.Error("a takes what it has sent itself")
	}
	if _, ok := hop.Arrive(t.Context(), sent(hop.Begin(t.Context(), a)), a); ok {
		t.Error("a takes what it has asked by itself")
	}
}

func TestCallComesThroughFourServicesAndNoMore(t *testing.T) {
	h := http.Header{}
	for i, name := range []string{"1", "2", "3", "4", "5"} {
		ctx, ok := hop.Arrive(t.Context(), h, hop.ID("https://"+name+".example.com"))
		if !ok {
			t.Fatalf("service %d refuses", i+1)
		}
		h = sent(ctx)
	}
	if _, ok := hop.Arrive(t.Context(), h, hop.ID("https://6.example.com")); ok {
		t.Error("a sixth service takes a call that has come through five")
	}
}

func TestMarksOfOthersAreNeitherCountedNorPassedOn(t *testing.T) {
	for _, lines := range [][]string{
		{"cdn.example, other.example; loops=1, \"x\", keystile-, keystile-XYZ, keystile-" + strings.Repeat("0", 17)},
		{strings.Repeat("cdn.example, ", 100)}, {"", ",,,;"},
	} {
		ctx, ok := hop.Arrive(t.Context(), http.Header{hop.Header: lines}, a)
		if got := sent(ctx).Get(hop.Header); !ok || got != a {
			t.Errorf("after %.60q, ok %t, %q is sent, want %q", lines, ok, got, a)
		}
	}
	for _, lines := range [][]string{{strings.ToUpper(a)}, {"cdn.example;x=1", " " + a + " ;loops=1"}, {b + "," + a}} {
		if _, ok := hop.Arrive(t.Context(), http.Header{hop.Header: lines}, a); ok {
			t.Errorf("%q is taken by a", lines)
		}
	}
}

func TestHopHeaderIsAbsentOnUnmarkedRequests(t *testing.T) {
	if h := sent(t.Context()); len(h) != 0 {
		t.Errorf("sent is %v", h)
	}
}
