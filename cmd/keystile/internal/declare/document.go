package declare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/yamljson"
	"github.com/keystile/keystile/storage"
)

// Limits of what is read at once.
const (
	MaxDocuments = 10_000
	maxBytes     = 16 << 20
	maxDepth     = 64
	maxNodes     = 3_000_000
	maxNameBytes = 200
)

// Document declares one thing.
type Document struct {
	Kind   string                     `json:"kind"`
	Name   string                     `json:"name"`
	Where  string                     `json:"where"` // the file and the document in it, for people
	Fields map[string]json.RawMessage `json:"fields"`
}

// key returns what tells a document from others of its kind. An application may say which one of a name it means.
func (d Document) key() string {
	var id string
	if slices.Contains([]string{kindApplication, kindTier}, d.Kind) && json.Unmarshal(d.Fields["client_id"], &id) == nil {
		return d.Name + " " + id
	}
	return d.Name
}

// wrong returns an error about a document.
func (d Document) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s %q: %w", storage.ErrInvalid, d.Where, d.Kind, d.Name, fmt.Errorf(format, args...))
}

// Read reads the documents of a text: YAML, several of them separated by lines of ---, or JSON, an object or a list of
// them. file says for errors where they stand.
func Read(ctx context.Context, file string, text []byte) (all []Document, err error) {
	for n, part := range parts(text) {
		where := fmt.Sprintf("%s, document %d", file, n+1)
		plain, err := yamljson.JSON(ctx, part, yamljson.Limits{Bytes: maxBytes, Depth: maxDepth, Nodes: maxNodes})
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", storage.ErrInvalid, where, err)
		}
		list := []json.RawMessage{plain}
		if bytes.HasPrefix(plain, []byte("[")) {
			if err := json.Unmarshal(plain, &list); err != nil {
				return nil, err
			}
		}
		for _, one := range list {
			if string(one) == "null" { // nothing between two lines of ---
				continue
			}
			d, err := readOne(where, one)
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	if len(all) > MaxDocuments {
		return nil, fmt.Errorf("%w: %s has more than %d documents", storage.ErrInvalid, file, MaxDocuments)
	}
	return all, nil
}

// parts splits a text at the lines that separate documents.
func parts(text []byte) (all [][]byte) {
	var part []byte
	flush := func() {
		if len(bytes.TrimSpace(part)) > 0 {
			all = append(all, part)
		}
		part = nil
	}
	for line := range bytes.Lines(text) {
		if string(bytes.TrimRight(line, " \t\r\n")) == "---" {
			flush()
			continue
		}
		part = append(part, line...)
	}
	flush()
	return all
}

func readOne(where string, text json.RawMessage) (d Document, err error) {
	d.Where = where
	if json.Unmarshal(text, &d.Fields) != nil || d.Fields == nil {
		return d, fmt.Errorf("%w: %s: a document is an object with kind, name and fields", storage.ErrInvalid, where)
	}
	if json.Unmarshal(d.Fields["kind"], &d.Kind) != nil || !slices.Contains(order, d.Kind) {
		return d, fmt.Errorf("%w: %s: kind is one of %s", storage.ErrInvalid, where, strings.Join(order, ", "))
	}
	if json.Unmarshal(d.Fields["name"], &d.Name) != nil || d.Name == "" || len(d.Name) > maxNameBytes {
		return d, fmt.Errorf("%w: %s: %s: name is a text of 1 to %d bytes", storage.ErrInvalid, where, d.Kind, maxNameBytes)
	}
	delete(d.Fields, "kind")
	delete(d.Fields, "name")
	for name, value := range d.Fields {
		if string(value) == "null" {
			return d, d.wrong("%s has no value: leave it out, or write what it is to be", name)
		}
	}
	return d, nil
}

// twice returns an error if two documents declare the same.
func twice(docs []Document) error {
	seen := map[[2]string]string{}
	var errs []error
	for _, d := range docs {
		key := [2]string{d.Kind, d.key()}
		if before, there := seen[key]; there {
			errs = append(errs, d.wrong("it stands in %s too: keep one", before))
		}
		seen[key] = d.Where
	}
	return errors.Join(errs...)
}
