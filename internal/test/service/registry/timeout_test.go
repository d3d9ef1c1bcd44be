package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
)

func TestTimeoutIsStoredShownAndReplaced(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	const tools = `,"tools_static":[{"name":"report","httpMethod":"get","path":"/report"}]`
	for _, c := range []struct {
		given  string
		stored int
		shown  float64
	}{
		{`,"timeout":1`, 1, 1}, {`,"timeout":90`, 90, 90}, {`,"timeout":600` + tools, 600, 600}, {`,"timeout":null`, 0, 30}, {``, 0, 30},
	} {
		body := `{"member":"slow","upstream_url":"https://slow.example.com"` + c.given + `}`
		h.want(h.register(mina, body), 200, 1, body)
		if stored := must(h.store.Capability(t.Context(), "slow"))(t); stored.Timeout != c.stored ||
			stored.CallTimeout().Seconds() != c.shown {
			t.Errorf("%s: stored are %d s, of which calls have %v; want %d and %v", body, stored.Timeout, stored.CallTimeout(),
				c.stored, c.shown)
		}
		for _, path := range []string{"", "/slow"} {
			if a := h.request("GET", all+path, mina, nil); !strings.Contains(a.text, fmt.Sprintf(`"timeout":%v,`, c.shown)) {
				t.Errorf("%s: at %s it is shown as %s", body, path, a.text)
			}
		}
	}
}

func TestTimeoutOutOfBoundsIsRefusedWithTheBounds(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	for _, given := range []string{`0`, `-1`, `601`, `1.5`, `30.0`, `"90"`, `"90s"`, `true`, `[]`, `1e2`, `99999999999999999999`} {
		body := `{"member":"slow","upstream_url":"https://slow.example.com","timeout":` + given + `}`
		for _, path := range []string{"/register", "/preview"} {
			a := h.want(h.request("POST", all+path, mina, strings.NewReader(body)), 400, openapi.ErrcodeBadField, given)
			if !strings.Contains(a.text, "timeout must be a whole number of seconds from 1 to 600") {
				t.Errorf("%s at %s: %s", given, path, a.text)
			}
		}
	}
	admin := must(h.store.User(t.Context(), h.user("root", "admin").Sub))(t)
	for _, seconds := range []int{-1, 601} {
		_, err := h.registry.Register(t.Context(), admin, registry.Request{Member: "slow",
			UpstreamURL: "https://slow.example.com", Timeout: seconds})
		if err == nil || !strings.Contains(err.Error(), "from 1 to 600") {
			t.Errorf("Register() with %d s = %v", seconds, err)
		}
	}
}
