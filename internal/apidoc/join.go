package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// text is a document as far as parts are put together; what is in a path or a component
// stays as it was written.
type text struct {
	OpenAPI    string                                `json:"openapi"`
	Info       json.RawMessage                       `json:"info,omitempty"`
	Servers    []server                              `json:"servers,omitempty"`
	Tags       []json.RawMessage                     `json:"tags,omitempty"`
	Paths      map[string]json.RawMessage            `json:"paths"`
	Components map[string]map[string]json.RawMessage `json:"components,omitempty"`
}

type server struct {
	URL string `json:"url"`
}

// read reads a part. A member that would be lost is an error.
func read(part []byte) (t text, err error) {
	dec := json.NewDecoder(bytes.NewReader(part))
	dec.DisallowUnknownFields()
	err = dec.Decode(&t)
	return t, err
}

// add puts a part into the document.
func (t *text) add(part text) error {
	if part.OpenAPI != t.OpenAPI {
		return fmt.Errorf("a part is OpenAPI %q, and the frame is %q", part.OpenAPI, t.OpenAPI)
	}
	t.Tags = append(t.Tags, part.Tags...)
	if err := join(t.Paths, part.Paths); err != nil {
		return err
	}
	for kind, components := range part.Components {
		if t.Components[kind] == nil {
			t.Components[kind] = map[string]json.RawMessage{}
		}
		if err := join(t.Components[kind], components); err != nil {
			return fmt.Errorf("components/%s: %w", kind, err)
		}
	}
	return nil
}

func join(all, more map[string]json.RawMessage) error {
	for name, what := range more {
		if _, there := all[name]; there {
			return fmt.Errorf("%s is described twice", name)
		}
		all[name] = what
	}
	return nil
}
