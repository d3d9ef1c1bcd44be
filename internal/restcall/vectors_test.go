package restcall

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// Decision 41: the vectors, over real HTTP.

type vector struct {
	ID        string          `json:"id"`
	Why       string          `json:"why"`
	Operation operation       `json:"operation"`
	Arguments json.RawMessage `json:"arguments"`
	Auth      struct{ Type, In, Name, Secret string }
	Policy    struct {
		AllowCIDR        []string
		MaxResponseBytes int64
	}
	Upstream *struct {
		Status           int
		Headers          map[string]string
		Body, BodyBase64 string
	}
	Expect struct {
		Sent      bool
		ToolError *string
		Request   *struct {
			Method, URL   string
			Headers       map[string]string
			AbsentHeaders []string
			BodyJSON      json.RawMessage
			BodyText      *string
			Multipart     []part
		}
		Result *struct {
			IsError                 bool
			Text, TextContains      []string
			StructuredContent       json.RawMessage
			StructuredContentLegacy json.RawMessage
			Content                 json.RawMessage
		}
	}
}

type part struct{ Name, Filename, BodyText string }

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/rest-call.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Format, Notes, Vectors json.RawMessage }
	var vectors []vector
	decode(t, text, &file)
	decode(t, file.Vectors, &vectors)
	ran := 0
	for _, v := range vectors {
		if t.Run(v.ID, v.run) {
			ran++
		}
	}
	if ran != 51 || len(vectors) != 51 {
		t.Errorf("%d of %d vectors passed, want 51", ran, len(vectors))
	}
}

// decode refuses members that the test would not look at.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

func (v vector) run(t *testing.T) {
	https := strings.HasPrefix(v.Operation.Base, "https:")
	u := serve(t, https, v.answer)
	_, port, _ := net.SplitHostPort(u.server.Listener.Addr().String())
	filled := strings.NewReplacer("{PORT}", port)
	g, err := netguard.New(netguard.Config{Allow: v.Policy.AllowCIDR, Resolver: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, Config{Transport: u.transport(t, "api.example.test", g), MaxResponse: v.Policy.MaxResponseBytes})
	to := Upstream{
		BaseURL:  filled.Replace(v.Operation.Base),
		AuthType: v.Auth.Type, AuthIn: v.Auth.In, AuthName: v.Auth.Name, Secret: storage.NewSecret(v.Auth.Secret),
	}
	result, err := c.Call(t.Context(), to, compile(t, v.Operation.tool(t)), v.Arguments)
	if err != nil {
		t.Fatalf("Call() = %v, want a result", err)
	}
	if got := len(u.requests()) > 0; got != v.Expect.Sent {
		t.Errorf("a request arrived: %t, want %t (%s)", got, v.Expect.Sent, texts(result))
	}
	if want := v.Expect.ToolError; want != nil && (!result.IsError || !strings.Contains(texts(result), *want)) {
		t.Errorf("the result is %+v, want an error about %q", result, *want)
	}
	if v.Expect.Request != nil {
		v.checkRequest(t, u.only(t), filled)
	}
	if v.Expect.Result != nil {
		v.checkResult(t, result)
	}
}

// nowhere resolves no name.
var nowhere = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no network in this test")
}}

func (v vector) answer(w http.ResponseWriter, _ *http.Request) {
	if v.Upstream == nil {
		io.WriteString(w, "{}")
		return
	}
	for name, value := range v.Upstream.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(v.Upstream.Status)
	blob, _ := base64.StdEncoding.DecodeString(v.Upstream.BodyBase64)
	w.Write(append([]byte(v.Upstream.Body), blob...))
}

func (v vector) checkRequest(t *testing.T, got *sent, filled *strings.Replacer) {
	want := v.Expect.Request
	if got.method != want.Method || got.url != filled.Replace(want.URL) {
		t.Errorf("the request is %s %s, want %s %s", got.method, got.url, want.Method, want.URL)
	}
	for name, value := range want.Headers {
		if got.header.Get(name) != value {
			t.Errorf("the header %s is %q, want %q", name, got.header.Get(name), value)
		}
	}
	for _, name := range want.AbsentHeaders {
		if values, there := got.header[name]; there {
			t.Errorf("the header %s is %q, want none", name, values)
		}
	}
	if want.BodyJSON != nil && !sameJSON(t, []byte(got.body), want.BodyJSON) {
		t.Errorf("the body is %s, want %s", got.body, want.BodyJSON)
	}
	if want.BodyText != nil && got.body != *want.BodyText {
		t.Errorf("the body is %q, want %q", got.body, *want.BodyText)
	}
	if parts := partsOf(t, got); want.Multipart != nil && !slices.Equal(parts, want.Multipart) {
		t.Errorf("the parts are %+v, want %+v", parts, want.Multipart)
	}
}

func partsOf(t *testing.T, got *sent) (out []part) {
	media, params, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	if media != "multipart/form-data" {
		return nil
	}
	for r := multipart.NewReader(strings.NewReader(got.body), params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(p)
		out = append(out, part{p.FormName(), p.FileName(), string(body)})
	}
}

func (v vector) checkResult(t *testing.T, got Result) {
	want := v.Expect.Result
	if got.IsError != want.IsError || len(got.Content) == 0 || !got.Dispatched {
		t.Errorf("the result is %+v, want IsError %t", got, want.IsError)
	}
	if want.Text != nil && !slices.Equal(strings.Split(texts(got), "\n"), want.Text) {
		t.Errorf("the text is %q, want %q", texts(got), want.Text)
	}
	for _, piece := range want.TextContains {
		if !strings.Contains(texts(got), piece) {
			t.Errorf("the text is %q, want %q in it", texts(got), piece)
		}
	}
	if want.StructuredContent != nil && !sameJSON(t, got.Structured, want.StructuredContent) {
		t.Errorf("the structured content is %s, want %s", got.Structured, want.StructuredContent)
	}
	if object := bytes.HasPrefix(got.Structured, []byte("{")); want.StructuredContentLegacy != nil && object {
		t.Errorf("the structured content is %s, want no object", got.Structured)
	}
	if content, _ := json.Marshal(got.Content); want.Content != nil && !sameJSON(t, content, want.Content) {
		t.Errorf("the content is %s, want %s", content, want.Content)
	}
}

// sameJSON compares without an order of members, and with every digit.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, text := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values[i]); err != nil {
			t.Errorf("%q is no JSON: %v", text, err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
