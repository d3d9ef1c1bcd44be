package dialogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Play holds a dialogue with a handler. Values holds what {{name}} stands for at the start;
// origin is the scheme and host that requests go to. It must run in a synctest bubble if
// the dialogue waits.
func (d Dialogue) Play(t *testing.T, h http.Handler, origin string, values map[string]string) {
	t.Helper()
	if len(d.steps) == 0 {
		t.Fatalf("%s: %q says nothing", d.File, d.Title)
	}
	for _, s := range d.steps {
		if s.wait != 0 {
			time.Sleep(s.wait)
			continue
		}
		for range max(1, s.times) {
			if err := s.play(h, origin, values); err != nil {
				t.Fatalf("%s:%d: %v", d.File, s.line, err)
			}
			time.Sleep(s.every)
		}
	}
}

func (s step) play(h http.Handler, origin string, values map[string]string) error {
	request, err := s.request.send(origin, values)
	if err != nil {
		return err
	}
	w, err := ask(h, request)
	if err != nil {
		return err
	}
	return s.compare(w, values)
}

// send makes the request: its first line is a method and a path.
func (m message) send(origin string, values map[string]string) (*http.Request, error) {
	first, err := fill(m.first, values)
	if err != nil {
		return nil, err
	}
	method, path, ok := strings.Cut(first, " ")
	if !ok {
		return nil, fmt.Errorf("%q is no method and path", first)
	}
	body, err := fill(strings.Join(m.body, ""), values)
	if err != nil {
		return nil, err
	}
	r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
	for _, line := range m.headers {
		line, err := fill(line, values)
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r, nil
}

// compare compares an answer with what is written.
func (s step) compare(w *httptest.ResponseRecorder, values map[string]string) error {
	want := s.answer
	if got := fmt.Sprint(w.Code); got != want.first {
		return fmt.Errorf("status %s, want %s: %s", got, want.first, w.Body)
	}
	for _, line := range want.headers {
		name, value, _ := strings.Cut(line, ": ")
		if err := match(value, strings.Join(w.Header().Values(name), ", "), values); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	for _, text := range s.holds {
		text, err := fill(text, values)
		if err != nil {
			return err
		}
		if !strings.Contains(w.Body.String(), text) {
			return fmt.Errorf("the body lacks %q: %s", text, w.Body)
		}
	}
	if len(want.body) == 0 {
		return nil
	}
	got := strings.Split(readable(w.Body.Bytes()), "\n")
	for i := range max(len(got), len(want.body)) {
		if i >= len(got) || i >= len(want.body) {
			return fmt.Errorf("body has %d lines, want %d:\n%s", len(got), len(want.body), strings.Join(got, "\n"))
		}
		if err := match(want.body[i], got[i], values); err != nil {
			return fmt.Errorf("body line %d: %w in\n%s", i+1, err, strings.Join(got, "\n"))
		}
	}
	return nil
}

// readable is a body as a dialogue shows it: JSON indented, in the order it was sent.
func readable(body []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil {
		return string(body)
	}
	return out.String()
}
