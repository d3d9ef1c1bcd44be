package main

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/network"
)

// small runs a scenario in a hurry.
func small(t *testing.T, scenario string, scale float64) string {
	t.Helper()
	var out bytes.Buffer
	broken, err := run(t.Context(), options{scenario: scenario, binary: program(t), scale: scale, seed: 1, hurry: true,
		out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if len(broken) > 0 {
		t.Errorf("broken: %q\n%s", broken, &out)
	}
	return out.String()
}

func TestSmallFloodRefusesNobodyElse(t *testing.T) {
	out := small(t, "addresses", 0.002)
	for _, want := range []string{"honest people: 4, of whom 4", "sign-in, wrong", "kept: all promises"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
}

func TestConnectionsThatAreFewHoldNobodyUp(t *testing.T) {
	out := small(t, "connections", 0.03) // 360 of one address, which may hold 256
	if !strings.Contains(out, "one address, 360 connections") ||
		strings.Contains(out, "refused 0; cut for their body 0, for not reading 0\n  somebody else was answered 0") {
		t.Errorf("it reports:\n%s", out)
	}
}

func TestFloodFromOneSiteStopsNothing(t *testing.T) {
	small(t, "onesite", 0.0005)
}

func TestAddressesAreDistinctAndHonestOnesAreElsewhere(t *testing.T) {
	flooding, wide := map[netip.Prefix]bool{}, map[netip.Prefix]bool{}
	widest := func(p netip.Prefix) netip.Prefix {
		for {
			wider, _, ok := network.Widen(p)
			if !ok {
				return p
			}
			p = wider
		}
	}
	add := func(a netip.Addr) {
		flooding[network.Of(a)] = true
		wide[widest(network.Of(a))] = true
	}
	for i := range floodIPv6 {
		add(flood6(i))
	}
	for i := range floodIPv4 {
		add(flood4(i))
	}
	if len(flooding) != floodIPv6+floodIPv4 || len(wide) != 64+400 {
		t.Errorf("%d addresses in %d wide networks", len(flooding), len(wide))
	}
	homes := map[netip.Prefix]bool{}
	for i := range honestUsers {
		at := widest(network.Of(home(i)))
		if wide[at] || homes[at] {
			t.Errorf("%s is not alone in %s", home(i), at)
		}
		homes[at] = true
	}
}

// The checks cannot pass by checking nothing.
func TestBrokenPromiseIsFound(t *testing.T) {
	var v verdict
	f := &flood{tally: newTally()}
	f.tally.count("userinfo", 500)
	f.tally.count("userinfo", 0)
	f.tally.count("sign-in, wrong", 303)
	f.tally.count("sign-in, wrong", 503)
	f.evaluate(&v)
	if len(v.broken) != 3 {
		t.Errorf("of three broken promises %q are found", v.broken)
	}
	v = verdict{}
	v.wantGrowth(options{out: new(bytes.Buffer)}, grown{}, grown{bytes: mostGrowth})
	if len(v.broken) != 1 {
		t.Errorf("a folder that grew by too much is found as %q", v.broken)
	}
}

func TestRefusedHonestUserIsFound(t *testing.T) {
	o := options{binary: program(t), scale: 0.01, seed: 1, hurry: true, out: new(bytes.Buffer)}
	data := t.TempDir()
	s, err := start(o, data, "--trusted-proxies", "127.0.0.1", "--limits-per-ip", "1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	c, err := newPopulation(o, s, data)
	if err != nil {
		t.Fatal(err)
	}
	f := &flood{server: s, total: 1}
	f.sent.Store(1)
	if c.live(t.Context(), f); len(c.complaints) != len(c.users) || c.lived != 0 ||
		!strings.Contains(c.complaints[0], "429") {
		t.Errorf("with one request a minute %d of %d live, and complain %q", c.lived, len(c.users), c.complaints)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for _, o := range []options{{scenario: "nothing", scale: 1}, {scenario: "addresses", scale: 2},
		{scenario: "addresses"}} {
		if _, err := run(t.Context(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
