package netguard

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestAllowedAddressesAreReached(t *testing.T) {
	in := listen(t)
	z, names := resolver(t)
	z.is("vault.example.test", "127.0.0.1")
	for _, c := range []struct {
		allow, host string
		reached     bool
	}{
		{"127.0.0.0/8", "127.0.0.1", true},
		{"127.0.0.0/8", "vault.example.test", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "[::ffff:127.0.0.1]", true},
		{"::ffff:127.0.0.0/104", "127.0.0.1", true},
		{"127.0.0.1:{port}", "127.0.0.1", true},
		{"127.0.0.1:{port}", "vault.example.test", true},
		{"127.0.0.1:1", "127.0.0.1", false},
		{"127.0.0.2", "127.0.0.1", false},
		{"10.0.0.0/8", "127.0.0.1", false},
		{"vault.example.test:{port}", "vault.example.test", true},
		{"vault.example.test:{port}", "VAULT.example.test.", true},
		{"Vault.Example.Test:{port}", "vault.example.test", true},
		{"vault.example.test:{port}", "127.0.0.1", false},
		{"vault.example.test:1", "vault.example.test", false},
		{"example.test:{port}", "vault.example.test", false},
	} {
		before := in.count.Load()
		allow := strings.ReplaceAll(c.allow, "{port}", in.port)
		_, err := get(t, guard(t, Config{Allow: []string{allow}, Resolver: names}).Client(0),
			"http://"+c.host+":"+in.port+"/")
		if arrived := in.count.Load() > before; (err == nil) != c.reached || arrived != c.reached {
			t.Errorf("with %s, Get(%s) = %v, a connection arrived: %t; want %t", c.allow, c.host, err, arrived, c.reached)
		}
	}
}

func TestTranslatorThatIsAdmittedOpensNothingElse(t *testing.T) {
	for _, c := range []struct {
		allow, addr string
		want        bool
	}{
		{"64:ff9b::/96", "64:ff9b::808:808", true},
		{"64:ff9b::/96", "64:ff9b::7f00:1", false},
		{"64:ff9b::/96", "64:ff9b::a9fe:a9fe", false},
		{"64:ff9b:1::/48", "64:ff9b:1::808:808", true},
		{"64:ff9b:1::/48", "64:ff9b:1::a00:1", false},
		{"64:ff9b:1::/48", "64:ff9b:1:808:8:800::", true},
		{"64:ff9b:1::/48", "64:ff9b:1:a00:0:100::", false},
		{"64:ff9b:1::/48", "64:ff9b:1:a00:0:100:808:808", false},
		{"64:ff9b:1::/48", "64:ff9b:1:c633:64:100::", false},
		{"fe80::/10", "fe80::1%eth0", true},
		{"2002::/16", "2002:808:808::1", true},
		{"2002::/16", "2002:7f00:1::1", false},
		{"::/0", "::1", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "127.0.0.1", false},
	} {
		a, err := parseAllow([]string{c.allow})
		if err != nil {
			t.Fatal(err)
		}
		if why := a.refusalOf(netip.AddrPortFrom(netip.MustParseAddr(c.addr), 80)); (why == "") != c.want {
			t.Errorf("with %s, judge(%s) = %q, want allowed %t", c.allow, c.addr, why, c.want)
		}
	}
}

func TestPublicAddressesAreDialled(t *testing.T) {
	var none allowed
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8",
		"2001:200::1", "2001:4860:4860::8888", "2606:4700:4700::1111", "2003::1", "2a00::1", "3ffd::1",
	} {
		if why := none.refusalOf(netip.AddrPortFrom(netip.MustParseAddr(text), 443)); why != "" {
			t.Errorf("judge(%s) = %q, want it public", text, why)
		}
	}
}

func TestOperatorLearnsWhatKindOfAddressItWas(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1": "loopback", "10.0.0.1": "private", "169.254.169.254": "link-local",
		"168.63.129.16":   "metadata of a cloud",
		"64:ff9b::7f00:1": "NAT64", "2001::1": "Teredo", "2002::1": "6to4", "fd00::1": "private (ULA)",
		"fe80::1%eth0": "link-local", "4000::1": "not given to anyone",
	} {
		if got := (allowed{}).refusalOf(netip.AddrPortFrom(netip.MustParseAddr(text), 80)); got != want {
			t.Errorf("judge(%s) = %q, want %q", text, got, want)
		}
	}
}

func TestBadEntryIsNamedAtOnce(t *testing.T) {
	bad := []string{"", "example.test", "10.0.0.0/33", "http://10.0.0.1", "10.0.0.1:0", "10.0.0.1:99999", "a b:80", ":80",
		"[fe80::1%lo]x:80", "::ffff:0:0/90", "[vault]:80:80"}
	g, err := New(Config{Allow: append(bad, "10.0.0.0/8", "10.0.0.1", "vault:8200", "[fd00::1]:443"), DialTimeout: -1})
	if g != nil || err == nil {
		t.Fatalf("New() = %v, %v, want an error", g, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(bad)+1 {
		t.Errorf("New() = %q, want %d complaints", lines, len(bad)+1)
	}
	for i, entry := range bad {
		if !strings.Contains(lines[i], fmt.Sprintf("%q", entry)) {
			t.Errorf("complaint %d is %q, want it to name %q", i, lines[i], entry)
		}
	}
}
