package netguard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestInternalTargetsAreNotReached(t *testing.T) {
	in := listen(t)
	z, names := resolver(t)
	client := guard(t, Config{Resolver: names, DialTimeout: 2 * time.Second}).Client(0)
	for _, host := range insideHosts {
		target := "http://" + host + ":" + in.port + "/latest/meta-data"
		_, err := get(t, client, target)
		if refused := (*Refused)(nil); !errors.As(err, &refused) || refused.Why == "" {
			t.Errorf("Get(%s) = %v, want a *Refused with a reason", target, err)
		} else if refused.Error() != "address not allowed" {
			t.Errorf("Get(%s) says %q, want the neutral text", target, refused)
		}

		name := fmt.Sprintf("n%d.example.test", len(z.names))
		z.is(name, strings.Trim(host, "[]"))
		_, err = get(t, client, "http://"+name+":"+in.port+"/")
		if refused := (*Refused)(nil); !errors.As(err, &refused) {
			t.Errorf("Get(a name of %s) = %v, want a *Refused", host, err)
		} else if strings.Contains(err.Error(), strings.Trim(host, "[]")) {
			t.Errorf("Get(a name of %s) says %q: it tells where the name leads", host, err)
		}
	}
	for _, host := range oddHosts {
		if resp, err := get(t, client, "http://"+host+":"+in.port+"/"); err == nil {
			t.Errorf("Get(%s) = %d, want an error", host, resp.StatusCode)
		}
	}
	for _, target := range oddURLs {
		target = strings.ReplaceAll(target, "{port}", in.port)
		if resp, err := get(t, client, target); err == nil {
			t.Errorf("Get(%q) = %d, want an error", target, resp.StatusCode)
		}
	}
	if n := in.count.Load(); n != 0 {
		t.Errorf("%d connections arrived inside, want none", n)
	}
}

// insideHosts are addresses that a dialler takes as they are.
var insideHosts = []string{
	"127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0.0.0.1", "0.255.255.255",
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
	"100.64.0.1", "100.100.100.200", "100.127.255.255", "169.254.0.1", "169.254.169.254", "169.254.170.2",
	"168.63.129.16", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255",
	"198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"[::1]", "[::]", "[::2]", "[::127.0.0.1]", "[::10.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
	"[::ffff:169.254.169.254]", "[::ffff:0.0.0.0]", "[0:0:0:0:0:ffff:10.1.2.3]", "[::ffff:0:127.0.0.1]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::808:808]", "[64:ff9b:1::7f00:1]",
	"[64:ff9b:1:7f00:0:100::]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2002:808:808::1]",
	"[2001::1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]",
	"[2001:db8::1]", "[3fff::1]", "[3ffe::1]", "[5f00::1]", "[100::1]", "[fc00::1]", "[fd00:ec2::254]",
	"[fdff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]", "[feff::1]", "[ff02::1]", "[ff0e::1]",
}

// oddHosts mean 127.0.0.1 to inet_aton(3) and to some resolvers, or are names of this host.
var oddHosts = []string{
	"2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1", "0x7F.0X0.0.1", "127.1",
	"127.0.1", "0", "00000177.0.0.1", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "app.localhost",
	"ip6-localhost", "①②⑦.⓪.⓪.①", "127。0。0。1", "[fe80::1%25lo]", "[::1%25lo]", "[::ffff:127.0.0.1%25lo]",
	"unknown.example.test",
}

// oddURLs are not for http, or hide the host.
var oddURLs = []string{
	"file:///etc/passwd", "gopher://127.0.0.1:{port}/_GET", "ftp://127.0.0.1:{port}/", "unix:///run/docker.sock",
	"dict://127.0.0.1:{port}/", "ldap://127.0.0.1:{port}/", "ws://127.0.0.1:{port}/", "HTTP://127.0.0.1:{port}/",
	"http:127.0.0.1:{port}", "http:///127.0.0.1:{port}", "//127.0.0.1:{port}/", "http://example.test@127.0.0.1:{port}/",
	"http://127.0.0.1:{port}#@example.test/", "http://127.0.0.1:{port}?@example.test/", "http://127.0.0.1%2f:{port}/",
	"http://[::1]:{port}", "http://[::ffff:7f00:1]:{port}/%2e%2e/", "http://127.0.0.1:{port}\\@example.test/",
	"http://127.0.0.1:{port}/\r\nHost: x", "jar:http://127.0.0.1:{port}!/", "data:text/plain,x", "",
}
