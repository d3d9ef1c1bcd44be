package openapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// prisms starts a Prism for each document and returns their addresses, until the test ends.
func prisms(t *testing.T, documents []tree) (addresses []string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("../node/node_modules/@stoplight/prism-http-server"); err != nil {
		t.Skip("Prism is not installed: run npm ci in internal/test/campaigns/peers/node")
	}
	cmd := exec.CommandContext(t.Context(), "node", "prism.mjs")
	var complaints bytes.Buffer
	cmd.Dir, cmd.Stderr = "../node", &complaints
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	go stdin.Write(append(encoded(t, documents), '\n'))
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("prism.mjs ends: %v\n%s", err, complaints.Bytes())
	}
	if err := json.Unmarshal(line, &addresses); err != nil || len(addresses) != len(documents) {
		t.Fatalf("prism.mjs says %s: %v", line, err)
	}
	return addresses
}

// prism checks requests by forwarding them to Prism, byte by byte.
type prism struct{ address string }

// validate lists what Prism objects to: where, and why.
func (p prism) validate(r *http.Request, body []byte) []string {
	to, err := url.Parse(p.address)
	if err != nil {
		return []string{err.Error()}
	}
	to.Opaque = "//" + to.Host + r.RequestURI
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.address, bytes.NewReader(body))
	if err != nil {
		return []string{err.Error()}
	}
	out.URL, out.Header = to, r.Header.Clone()
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return []string{err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return []string{err.Error()}
	}
	return objections(answer, text)
}

// violation holds what Prism says of a part of a request: in the body of its answer, or, if it
// lets the request pass, in a header.
type violation struct {
	Location          []string
	Message, Severity string
}

func objections(answer *http.Response, text []byte) (out []string) {
	var problem struct{ Validation []violation }
	said := answer.Header.Get("sl-violations")
	if answer.StatusCode == http.StatusNoContent && said == "" {
		return nil
	}
	if answer.StatusCode == http.StatusNoContent {
		text = []byte(`{"validation":` + said + `}`)
	}
	if err := json.Unmarshal(text, &problem); err != nil || len(problem.Validation) == 0 {
		return []string{fmt.Sprintf("%s %s", answer.Status, text)}
	}
	for _, v := range problem.Validation {
		if v.Severity != "Warning" { // of what is deprecated
			out = append(out, strings.Join(v.Location, ".")+": "+v.Message)
		}
	}
	return out
}

// spelledOut says in a document what it leaves unsaid, for Prism: that what is in the style
// form is exploded unless the document says otherwise (OpenAPI 3.0.3, Parameter Object).
func spelledOut(v any) any {
	switch v := v.(type) {
	case tree:
		out := tree{}
		for name, member := range v {
			out[name] = spelledOut(member)
		}
		form := v["style"] == nil || v["style"] == "form"
		if (v["in"] == "query" || v["in"] == "cookie") && v["schema"] != nil && form && v["explode"] == nil {
			out["explode"] = true
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = spelledOut(member)
		}
		return out
	}
	return v
}
