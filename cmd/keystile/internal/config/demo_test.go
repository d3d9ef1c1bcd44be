package config

import (
	"strings"
	"testing"
)

func TestDemoByDefaultIsOnlyWhereThisMachineReachesIt(t *testing.T) {
	for _, c := range []struct {
		listen, base, asked string
		want                bool
		source              string
	}{
		{"", "", "", true, "default: listen is on this machine alone"},
		{"127.0.0.1:0", "", "", true, "default: "},
		{"[::1]:8080", "", "", true, "default: "},
		{"localhost:8080", "", "", true, "default: "},
		{"0.0.0.0:8080", "", "", false, "default: other machines reach the service"},
		{":8080", "", "", false, "default: "},
		{"192.168.1.5:80", "", "", false, "default: "},
		{"", "http://localhost:8080", "", true, "default: base_url is this machine"},
		// a container whose port is published
		{"0.0.0.0:8080", "http://localhost:8080", "", true, "default: base_url is this machine"},
		{"", "http://id.localhost", "", true, "default: "},
		{"", "http://127.9.9.9:1", "", true, "default: "},
		{"", "http://[::1]:1", "", true, "default: "},
		{"", "https://id.example.com", "", false, "default: other machines reach the service"},
		{"", "https://localhost.example.com", "", false, "default: "},
		{"", "https://notlocalhost", "", false, "default: "},
		{"", "http://10.0.0.5", "", false, "default: "},
		{"", "https://id.example.com", "true", true, "environment KEYSTILE_DEMO"},
		{"", "http://localhost:8080", "false", false, "environment KEYSTILE_DEMO"},
	} {
		got := load(t, []string{"KEYSTILE_LISTEN=" + c.listen, "KEYSTILE_BASE_URL=" + c.base, "KEYSTILE_DEMO=" + c.asked})
		var shown Value
		for _, v := range got.Values {
			if v.Key == "demo" {
				shown = v
			}
		}
		text := map[bool]string{true: "true", false: "false"}[c.want]
		if got.Demo != c.want || got.DemoUnasked != (c.asked == "") || shown.Text != text ||
			!strings.HasPrefix(shown.Source, c.source) {
			t.Errorf("listen %q, base_url %q, demo %q: %t (unasked %t), shown as %q from %q; want %t from %q",
				c.listen, c.base, c.asked, got.Demo, got.DemoUnasked, shown.Text, shown.Source, c.want, c.source)
		}
	}
}
