package userfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// source says where in a JSON document users stand. A path has a point before each name, of which only letters and
// digits count, in lower case, and [] for each element of an array.
type source struct {
	rows []string
	row  func(raw []byte) (importacts.Row, error)
	// by path, functions that keep what is said of users elsewhere: it is read first
	about map[string]func(raw []byte) error
}

// document reads a JSON document. It goes through it twice where something is to be known of users first.
func (f *File) document(emit func(Item) error, s source) error {
	if len(s.about) > 0 {
		var paths []string
		for path := range s.about {
			paths = append(paths, path)
		}
		err := f.walk(paths, func(path string, line int, raw []byte) error {
			if err := s.about[path](raw); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	found := false
	err := f.walk(s.rows, func(_ string, line int, raw []byte) error {
		found = true
		return take(emit, line, raw, s.row)
	})
	if err == nil && !found {
		err = fmt.Errorf("there are no users in the file: they stand at %s", strings.Join(s.rows, " or "))
	}
	return err
}

// walk calls visit with each value at one of some paths.
func (f *File) walk(paths []string, visit func(path string, line int, raw []byte) error) error {
	in, err := f.text()
	if err != nil {
		return err
	}
	defer in.Close()
	bounded := &counted{in: in}
	d := &document{json.NewDecoder(bounded), bounded, paths, visit}
	bounded.consumed = d.dec.InputOffset
	for {
		err := d.value("")
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errVisit):
			return errors.Unwrap(err)
		case err != nil:
			return fmt.Errorf("line %d: what follows is not read: %w", d.line(nil), err)
		}
	}
}

type document struct {
	dec   *json.Decoder
	in    *counted
	paths []string
	visit func(path string, line int, raw []byte) error
}

// visited is the error of visit: it is no error of the document.
type visited struct{ error }

var errVisit = errors.New("visit")

func (v visited) Is(target error) bool { return target == errVisit }

func (v visited) Unwrap() error { return v.error }

// line returns the line on which the value begins that was read last.
func (d *document) line(raw []byte) int {
	return d.in.lineAt(d.dec.InputOffset()) - strings.Count(string(raw), "\n")
}

// value reads the next value, which stands at a path.
func (d *document) value(path string) error {
	switch {
	case path != "" && slices.Contains(d.paths, path):
		var raw json.RawMessage
		if err := d.dec.Decode(&raw); err != nil {
			return whole(err)
		}
		if err := d.visit(path, d.line(raw), raw); err != nil {
			return visited{err}
		}
		return nil
	case path != "" && !slices.ContainsFunc(d.paths, func(wanted string) bool { return strings.HasPrefix(wanted, path) }):
		return whole(d.skip())
	}
	t, err := d.dec.Token()
	if err != nil {
		if path != "" {
			err = whole(err)
		}
		return err
	}
	opened, is := t.(json.Delim)
	if !is {
		return nil
	}
	for d.dec.More() {
		at := path + "[]"
		if opened == '{' {
			key, err := d.dec.Token()
			if err != nil {
				return whole(err)
			}
			at = path + "." + plain(key.(string))
		}
		if err := d.value(at); err != nil {
			return err
		}
	}
	_, err = d.dec.Token()
	return whole(err)
}

// skip passes over a value, whatever its size.
func (d *document) skip() error {
	for depth := 0; ; {
		t, err := d.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// whole is the error of a document that ends within a value.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// plain is a name without what only its spelling has: humanUsers and human_users are one.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_':
			return -1
		}
		return r
	}, name)
}

// counted reads a text, knows where its lines end, and ends where a row is too long.
type counted struct {
	in       io.Reader
	consumed func() int64 // how much of it has been made use of

	read  int64
	ends  []int64 // of lines, from lines on
	lines int     // before ends
}

// slack bounds how far a reader may have read ahead, in bytes.
const slack = 64 << 10

func (c *counted) Read(p []byte) (int, error) {
	if c.read-c.consumed() > maxRow+slack {
		return 0, errLength
	}
	n, err := c.in.Read(p[:min(len(p), slack)])
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	c.drop(c.consumed())
	return n, err
}

func (c *counted) drop(offset int64) {
	for len(c.ends) > 0 && c.ends[0] < offset {
		c.ends = c.ends[1:]
		c.lines++
	}
}

func (c *counted) lineAt(offset int64) int {
	c.drop(offset)
	return c.lines + 1
}
