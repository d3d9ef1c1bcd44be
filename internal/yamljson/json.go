package yamljson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits bound a document.
type Limits struct {
	Bytes int // of the JSON
	Depth int // objects and arrays within each other
	Nodes int // keys and values, each as often as aliases lead there
}

// Reasons that an [Error] wraps if a document is too large rather than wrong.
var (
	ErrDepth = errors.New("nested too deep")
	ErrSize  = errors.New("too large")
)

// Error says where in the text a document is wrong or too much.
type Error struct {
	Line, Column int // from 1; the column in characters
	Problem      string
	limit        error // ErrDepth or ErrSize; nil: the document is wrong
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

func (e *Error) Unwrap() error { return e.limit }

// JSON returns a document as compact JSON, the keys in their order and those of merge keys
// behind them. The error is an *[Error], or that of the context.
func JSON(ctx context.Context, text []byte, l Limits) ([]byte, error) {
	if err := screen(text, l.Nodes); err != nil {
		return nil, err
	}
	root, err := parse(ctx, text)
	if err != nil {
		return nil, err
	}
	w := &writer{limits: l, nodes: l.Nodes + 1, open: map[*yaml.Node]bool{}}
	if err := w.value(root); err != nil {
		return nil, err
	}
	return w.out, w.visit(root) // the last bytes count too
}

// parse returns the value of the one document in a text.
func parse(ctx context.Context, text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(&source{ctx, readable(text)})
	var doc, more yaml.Node
	switch err := decode(dec, &doc); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == io.EOF:
		return nil, &Error{1, 1, "there is nothing but blanks and comments", nil}
	case err != nil:
		return nil, located(dec, err)
	}
	switch err := decode(dec, &more); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == io.EOF:
		return doc.Content[0], nil
	case err != nil:
		return nil, located(dec, err)
	}
	return nil, wrong(&more, "a second document begins: keep one")
}

// decode reads the next document. The parser panics where it contradicts itself.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the parser gave up: %v", r)
		}
	}()
	return dec.Decode(n)
}

// source is a text that ends when the context does.
type source struct {
	ctx  context.Context
	text []byte
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.text)
	s.text = s.text[n:]
	return n, nil
}

// wrong is an error at a node.
func wrong(n *yaml.Node, format string, args ...any) *Error {
	return &Error{n.Line, n.Column, fmt.Sprintf(format, args...), nil}
}

func tooMuch(limit error, n *yaml.Node, format string, args ...any) *Error {
	e := wrong(n, format, args...)
	e.limit = limit
	return e
}

// located is an error of the parser with its place.
func located(dec *yaml.Decoder, err error) error {
	e := &Error{Line: 1, Column: 1, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
	if problem, line, column := state(dec); line > 0 {
		e.Line, e.Column = line, column
		if problem != "" {
			e.Problem = problem
		}
	}
	if strings.HasPrefix(e.Problem, "found unknown escape character") {
		e.Problem += `: write / for \/, and \\ for \`
	}
	if strings.HasPrefix(e.Problem, "exceeded max depth") {
		e.limit = ErrDepth
	}
	return e
}
