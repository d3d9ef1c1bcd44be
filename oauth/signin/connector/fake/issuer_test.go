package fake

import "testing"

func TestIssuerIsBounded(t *testing.T) {
	d := newIssuer()
	first := d.code("wx", testUsers[0], "x")
	second := d.code("wx", testUsers[0], "x")
	for range maxKept - 1 {
		d.code("qq", testUsers[1], "x")
	}
	if _, _, v := d.redeem("wx", first); v != unknown {
		t.Errorf("the oldest code is still there: %v", v)
	}
	if _, _, v := d.redeem("wx", second); v != valid {
		t.Errorf("the oldest but one is gone: %v", v)
	}
	for range 3 * maxKept {
		token, _, v := d.redeem("wx", d.code("wx", testUsers[0], "x"))
		if _, ok := d.holder("wx", token); v != valid || !ok {
			t.Fatal("the newest is not there")
		}
	}
	for what, n := range map[string]int{"codes": len(d.codes.kept), "tokens": len(d.tokens.kept),
		"order": len(d.codes.order), "order of tokens": len(d.tokens.order)} {
		if n != maxKept {
			t.Errorf("%d %s, want %d", n, what, maxKept)
		}
	}
	if len(d.visits) > 4*len(testUsers) {
		t.Errorf("%d visits", len(d.visits))
	}
}
