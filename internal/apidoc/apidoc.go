package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/keystile/keystile/internal/reply"
)

// Path is the path that serves the document.
const Path = "/openapi.json"

// Example is the origin that parts are written for. Everywhere in them it stands for the
// service's own.
const Example = "https://id.example.com"

//go:embed frame.json
var frame []byte

// Document holds the OpenAPI document of one package or of several.
type Document struct{ parts [][]byte }

// Of merges the documents of several packages, which are OpenAPI documents without what the
// frame says. Their bytes must not change any more.
func Of(parts ...[]byte) Document { return Document{slices.Clone(parts)} }

// JSON returns the document of a service at an origin, such as https://id.example.com. It
// fails if two parts describe the same path or component: that is a mistake in the program.
func (d Document) JSON(origin string) ([]byte, error) {
	all, err := read(frame)
	if err != nil {
		return nil, fmt.Errorf("apidoc: frame: %w", err)
	}
	for _, part := range d.parts {
		p, err := read(part)
		if err == nil {
			err = all.add(p)
		}
		if err != nil {
			return nil, fmt.Errorf("apidoc: %w", err)
		}
	}
	all.Servers = []server{{Example}}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	quoted, _ := json.Marshal(origin) // a text never fails
	own := bytes.Trim(quoted, `"`)
	return bytes.ReplaceAll(bytes.TrimSpace(out.Bytes()), []byte(Example), own), nil
}

// Handler serves the document of a service at an origin, by GET and HEAD at Path, with an
// ETag. It is made when it is asked for first: most starts never need it. Parts that do not
// go together are a mistake in the program; a test that asks once finds it.
func (d Document) Handler(origin string) http.Handler { return reply.NewMux(nil, d.Route(origin)) }

// Route is Handler for a route table.
func (d Document) Route(origin string) reply.Route {
	made := sync.OnceValues(func() (*reply.Document, error) {
		body, err := d.JSON(origin)
		return reply.NewDocument(body), err
	})
	return reply.Route{Path: Path, Methods: []string{http.MethodGet, http.MethodHead},
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			document, err := made()
			if err != nil {
				return err
			}
			document.Write(w, r)
			return nil
		}}
}
