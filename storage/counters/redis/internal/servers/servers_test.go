package servers

import (
	"testing"

	"github.com/keystile/keystile/internal/resp"
)

func TestKeysAreInTheSlotsThatClustersPutThemIn(t *testing.T) {
	for key, want := range map[string]int{ // CLUSTER KEYSLOT
		"": 0, "123456789": 12739, "foo": 12182, "{foo}bar": 12182, "a{foo}{bar}": 12182, "{}foo": slotOf("{}foo"),
		"foo{":             slotOf("foo{"),
		"keystile:{7ff}a3": slotOf("7ff"), "foo{}{bar}": slotOf("foo{}{bar}"),
	} {
		if got := slotOf(key); got != want {
			t.Errorf("%q is in slot %d, want %d", key, got, want)
		}
	}
	if slotOf("foo{}{bar}") == slotOf("bar") {
		t.Error("empty braces are left out")
	}
}

func TestRedirectionLeadsWhereItSays(t *testing.T) {
	for said, want := range map[string]struct {
		to        string
		ask, sent bool
	}{
		"MOVED 3999 127.0.0.1:6381": {"127.0.0.1:6381", false, true},
		"ASK 3999 127.0.0.1:6381":   {"127.0.0.1:6381", true, true},
		"MOVED 3999 ::1:6381":       {"[::1]:6381", false, true},
		"MOVED 3999 :6381":          {"h:6381", false, true},
		"MOVED 3999 ?:6381":         {"h:6381", false, true},
		"MOVED 3999":                {},
		"MOVED 3999 x":              {},
		"ERR MOVED 3999 h:1":        {},
	} {
		if to, ask, sent := redirected(said, "h:1"); to != want.to || ask != want.ask || sent != want.sent {
			t.Errorf("%q is %q, %t, %t, want %+v", said, to, ask, sent, want)
		}
	}
}

func TestSlotListThatIsInvalidIsAnError(t *testing.T) {
	number := func(n int64) resp.Value { return resp.Value{Kind: resp.Number, Int: n} }
	list := func(v ...resp.Value) resp.Value { return resp.Value{Kind: resp.List, List: v} }
	host := resp.Value{Kind: resp.Text, Text: "10.0.0.1"}
	if o, err := ownerOf(list(number(0), number(5), list(host, number(6379))), "h:1"); err != nil ||
		o != (owner{0, 5, "10.0.0.1:6379"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := ownerOf(list(number(0), number(5), list(resp.Value{}, number(6379))), "h:1"); err != nil ||
		o.address != "h:6379" {
		t.Errorf("%+v, %v", o, err)
	}
	for i, v := range []resp.Value{
		{}, number(1), list(), list(number(0), number(5)), list(number(0), number(5), list()),
		list(number(0), number(5), list(host)),
		list(number(-1), number(5), list(host, number(1))), list(number(0), number(16384), list(host, number(1))),
		list(number(6), number(5), list(host, number(1))),
		list(number(0), number(5), list(host, number(0))), list(number(0), number(5), list(host, number(65536))),
		list(host, number(5), list(host, number(1))),
	} {
		if o, err := ownerOf(v, "h:1"); err == nil {
			t.Errorf("%d: %+v", i, o)
		}
	}
}
