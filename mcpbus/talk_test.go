package mcpbus_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// at is a member of the body, found by a path such as result.tools.
func (a answer) at(path string) any {
	v := any(a.body)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// code is the code of a JSON-RPC error, 0 if there is none.
func (a answer) code() int {
	code, _ := a.at("error.code").(float64)
	return int(code)
}

// said is the text of a tool's result.
func (a answer) said() string {
	content, _ := a.at("result.content").([]any)
	if len(content) == 0 {
		return ""
	}
	text, _ := content[0].(map[string]any)["text"].(string)
	return text
}

// post sends a body with the application's token. Headers are name, value, name, value; an
// empty value takes the header away.
func (h *fixture) post(body string, headers ...string) answer {
	return send(h.bus, request(h.Context(), body, headers...))
}

func request(ctx context.Context, body string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "POST", busURI, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer app")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return r
}

func send(handler http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header(), text: w.Body.String()}
	json.Unmarshal(w.Body.Bytes(), &a.body)
	return a
}

// legacy sends a request of a legacy revision; params may be "".
func (h *fixture) legacy(method, params string, headers ...string) answer {
	return h.post(legacyBody(method, params), headers...)
}

func legacyBody(method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `"` + params + `}`
}

// modern sends a request of the modern revision; params are members, such as "cursor":"x".
func (h *fixture) modern(method, params string, headers ...string) answer {
	return h.post(modernBody(method, params), append(modernHeaders(method, params), headers...)...)
}

func modernBody(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func modernHeaders(method, params string) []string {
	headers := []string{"MCP-Protocol-Version", version, "Mcp-Method", method}
	var named struct{ Name string }
	if json.Unmarshal([]byte("{"+params+"}"), &named) == nil && method == "tools/call" {
		headers = append(headers, "Mcp-Name", named.Name)
	}
	return headers
}

// names are the names on a page of the list.
func (a answer) names() (names []string) {
	tools, _ := a.at("result.tools").([]any)
	for _, t := range tools {
		names = append(names, t.(map[string]any)["name"].(string))
	}
	return names
}

// walk follows cursors to the end of the list.
func (h *fixture) walk(headers ...string) (names []string, pages int) {
	h.Helper()
	params := "{}"
	for {
		a := h.legacy("tools/list", params, headers...)
		if a.status != 200 || a.code() != 0 {
			h.Fatalf("tools/list = %d %s", a.status, a.text)
		}
		names, pages = append(names, a.names()...), pages+1
		next, more := a.at("result.nextCursor").(string)
		if !more {
			return names, pages
		}
		params = `{"cursor":"` + next + `"}`
	}
}
