package admin

import (
	"context"
	"net/netip"
	"strings"
	"testing"
)

func TestLockoutIsClearedByTheRunningServer(t *testing.T) {
	o := newOffice(t)
	o.wantFailure(1, "no server runs in this data folder", "lockout", "clear", "192.0.2.7")
	o.wantFailure(2, `"ada" is no address`, "lockout", "clear", "ada")
	var asked []netip.Addr
	o.target.Unlock = func(_ context.Context, ip netip.Addr) bool { asked = append(asked, ip); return len(asked) == 1 }
	o.serve()
	for _, want := range []bool{true, false} {
		if v := o.must("lockout", "clear", "::ffff:192.0.2.7"); v["address"] != "192.0.2.7" || v["cleared"] != want {
			t.Errorf("said %v, want cleared: %t", v, want)
		}
	}
	if len(asked) != 2 || asked[0] != netip.MustParseAddr("192.0.2.7") {
		t.Errorf("the server was asked about %v", asked)
	}
	if n := len(o.trail); n != 2 || !strings.HasPrefix(o.trail[0].Detail,
		"lockout clear 192.0.2.7 by command line, uid ") {
		t.Errorf("on the trail is %v", o.trail)
	}
}
