package openapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// Two readings of a document: with all arguments that can be made, whose values the validators
// must find again; and with those alone that are required, by the document as it is.
const (
	whole  = "whole"
	scarce = "scarce"
)

// upstream is one reading of one document: an upstream that checks what it is sent.
type upstream struct {
	name, member string // of the document, and of its capability
	reading      string
	checked      tree // what the validators use
	tools        []toolplan.Tool
	arguments    map[string]tree // by tool; those without were not to be made
	given, left  int             // arguments
	kin          kin
	prism        prism

	mu      sync.Mutex
	tool    toolplan.Tool // the one that is called
	arrived int
	found   map[string][]string // by validator
	sent    string
}

// base is the path of the upstream; what documents say of servers is not read.
const base = "/behind/it"

// open registers a document, once for each reading, and works out what its tools are given.
// The tools are every nth, so that there are not more than most.
func open(t *testing.T, h *fixture, name string, text []byte, most int) (out []*upstream) {
	t.Helper()
	for _, reading := range []string{whole, scarce} {
		s := &upstream{name: name, member: fmt.Sprintf("%s%s", reading[:1], name), reading: reading,
			arguments: map[string]tree{}}
		server := httptest.NewServer(http.StripPrefix(base, s))
		t.Cleanup(server.Close)
		all := h.register(t, s.member, server.URL+base, text)
		every := (len(all) + most - 1) / most
		for i := 0; i < len(all); i += every {
			s.tools = append(s.tools, all[i])
		}
		s.checked = decoded(t, text)
		unanswered(s.checked)
		for _, tool := range s.tools {
			made := &samples{all: reading == whole}
			arguments, err := made.of(t, tool)
			if err != nil {
				t.Logf("%s: %s is not called: %v", name, tool.Name, err)
				continue
			}
			s.arguments[tool.Name] = arguments
			s.given, s.left = s.given+len(arguments), s.left+made.left
			if reading == whole {
				pin(s.checked, tool, arguments)
			}
		}
		s.kin = newKin(t, encoded(t, s.checked), s.checked["swagger"] != nil)
		out = append(out, s)
	}
	return out
}

// of makes arguments of a tool.
func (s *samples) of(t *testing.T, tool toolplan.Tool) (tree, error) {
	schema, places := decoded(t, tool.InputSchema), map[string]string{}
	for _, p := range tool.Call.Params {
		places[p.Arg] = p.In
	}
	for _, f := range fields(tool.Call.Body) {
		if f.Required && s.all { // as soon as any part of the body is given
			schema["required"] = append(list(schema["required"]), f.Arg)
		}
	}
	return s.arguments(schema, places)
}

func fields(b *toolplan.Body) []toolplan.Field {
	if b == nil {
		return nil
	}
	return b.Fields
}

// ServeHTTP checks a request, and answers as if all were well.
func (s *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	r.RequestURI = r.URL.RequestURI() // without what all calls have before it
	s.sent = fmt.Sprintf("%s %s %v\n%q", r.Method, r.RequestURI, r.Header, body)
	s.found = map[string][]string{"Prism": s.prism.validate(r, body)}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.found["kin-openapi"] = s.kin.validate(r, s.tool.Call.Template)
	w.WriteHeader(http.StatusNoContent)
}

// try calls a tool and returns what the validators object to.
func (s *upstream) try(t *testing.T, h *fixture, tool toolplan.Tool) (found map[string][]string, sent string) {
	t.Helper()
	s.mu.Lock()
	s.tool, s.arrived, s.found = tool, 0, nil
	s.mu.Unlock()
	failure := h.call(t, s.member+"__"+tool.Name, s.arguments[tool.Name])
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure != "" || s.arrived != 1 {
		t.Errorf("%s: %s of %s: %d requests arrive: %s", s.reading, tool.Name, encoded(t, s.arguments[tool.Name]), s.arrived,
			failure)
	}
	return s.found, s.sent
}
