package registry_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// They are more than one secret: they are checked, sealed, and shown by name alone.
func TestSecretHeadersAreWriteOnly(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	var kept []driver.Doc
	h.backend.before(func(docs []driver.Doc) error { kept = append(kept, docs...); return nil }, nil)
	body := `{"headers":{"X-Tenant-Key":"tenant-hidden","CF-Access-Client-Secret":"cloud-hidden"},` +
		standard("shop", "a")[1:]
	answers := []response{h.want(h.register(mina, body), 200, 1, "a registration")}
	for _, target := range []string{all, all + "/shop"} {
		answers = append(answers, h.want(h.request("GET", target, mina, nil), 200, 1, target))
	}
	answers = append(answers, h.want(h.request("POST", all+"/preview", mina, strings.NewReader(body)), 200, 1,
		"a preview"))
	for _, a := range answers {
		if strings.Contains(a.text, "-hidden") {
			t.Errorf("a secret is answered: %s", a.text)
		}
	}
	if shown := answers[2].text; !strings.Contains(shown, `"header_names":["CF-Access-Client-Secret","X-Tenant-Key"]`) {
		t.Errorf("the names are not shown: %s", shown)
	}
	for _, d := range kept {
		if bytes.Contains(d.Data, []byte("-hidden")) {
			t.Errorf("%s is stored as it is: %s", d.Kind, d.Data)
		}
	}
	if c, err := h.store.Capability(t.Context(), "shop"); err != nil || len(c.SecretHeaders()) != 2 ||
		!c.SecretHeaders()["CF-Access-Client-Secret"].Equal("cloud-hidden") {
		t.Errorf("stored is %+v, %v", c, err)
	}
	if text := h.log.String(); strings.Contains(text, "-hidden") {
		t.Errorf("the log has %s", text)
	}
	h.want(h.register(mina, standard("shop", "a")), 200, 1, "a registration without them")
	if c, _ := h.store.Capability(t.Context(), "shop"); len(c.SecretHeaders()) != 0 {
		t.Errorf("a registration replaces all, and there still is %v", c.HeaderNames())
	}
}

func TestHeadersThatSayWhatARequestIsAreNoSecrets(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	for _, name := range []string{
		"Host", "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization",
		"Proxy-Connection", "HTTP2-Settings",
		"Content-Type", "Content-Length", "Content-Encoding", "Content-MD5", "Accept", "Accept-Encoding", "Expect",
		"Via", "CDN-Loop", "User-Agent", "Cookie", "Set-Cookie",
		"X-Keystile-User", "x_keystile_client", "X-Forwarded-For", "X-Forwarded-Prefix", "Forwarded", "X-Real-IP",
		"X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override",
		"Remote-User", "X-Remote-User", "Cf-Access-Jwt-Assertion", "X-Request-Id", "Traceparent", "Mcp-Session-Id",
		"MCP-Protocol-Version", "Mcp-Param-X", "Last-Event-ID",
		"Idempotency-Key", "Range", "If-Match", "Sec-Fetch-Site", "Date", "", "X A", "X:A", "X\nA", "Ключ",
		strings.Repeat("x", 201),
	} {
		a := h.register(mina, fmt.Sprintf(`{"headers":{%q:"some-secret"},%s`, name, standard("shop", "a")[1:]))
		if a.status != 400 || a.body.Errcode != int(openapi.ErrcodeBadField) || !strings.Contains(a.body.Msg, "headers") ||
			strings.Contains(a.text, "some-secret") {
			t.Errorf("%q is answered %d %s", name, a.status, a.text)
		}
	}
	var many []string
	for i := range 17 {
		many = append(many, fmt.Sprintf(`"X-%d":"x"`, i))
	}
	for name, headers := range map[string]string{
		"too many": strings.Join(many, ","), "a long value": `"X-A":"` + strings.Repeat("x", 8<<10+1) + `"`,
		"no value": `"X-A":""`, "two lines": `"X-A":"a\r\nX-B: b"`,
		"a blank at its end": `"X-A":"a "`, "one twice": `"X-A":"a","x-a":"b"`,
		"one twice, to many servers": `"X-A":"a","X_A":"b"`, "no text": `"X-A":7`, "nothing": `"X-A":null`,
		"all too long": `"X-A":"` + strings.Repeat("x", 8<<10) + `","X-B":"` + strings.Repeat("x", 8<<10) +
			`","X-C":"` + strings.Repeat("x", 8<<10) + `","X-D":"` + strings.Repeat("x", 8<<10) + `"`,
	} {
		if a := h.register(mina, `{"headers":{`+headers+`},`+standard("shop", "a")[1:]); a.status != 400 ||
			!strings.Contains(a.body.Msg, "headers") {
			t.Errorf("%s: answered %d %.300s", name, a.status, a.text)
		}
	}
	a := h.register(mina, `{"auth_type":"api_key","auth_in":"header","auth_name":"X-Key","auth_secret":"some-secret",`+
		`"headers":{"x-key":"other"},`+standard("shop", "a")[1:])
	h.want(a, 400, int(openapi.ErrcodeBadField), "the header of the credential")
	if h.stored("shop") != "" {
		t.Error("something is stored")
	}
}

// A model is not asked for what the capability sends: the argument could never be right.
func TestParameterThatASecretHeaderSetsIsNoArgument(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.want(h.register(mina, `{"member":"shop","upstream_url":"https://api.example.com",`+
		`"headers":{"X-Tenant":"tenant-secret"},"openapi":{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a",`+
		`"parameters":[{"name":"x_tenant","in":"header","required":true,"schema":{"type":"string"}},`+
		`{"name":"X-Other","in":"header","schema":{"type":"string"}}]}}}}}`), 200, 1, "a registration")
	c, tools, _ := h.store.Tools(t.Context(), "shop")
	if len(tools) != 1 || strings.Contains(string(tools[0].InputSchema), "x_tenant") ||
		!strings.Contains(string(tools[0].InputSchema), "X-Other") {
		t.Errorf("the tools are %+v", tools)
	}
	if !slices.ContainsFunc(c.Skipped, func(s toolplan.Skip) bool { return strings.Contains(s.Reason, "credential") }) {
		t.Errorf("it is not listed: %+v", c.Skipped)
	}
}
