package userfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// maxRow is the most that one row has, in bytes.
const maxRow = 1 << 20

// Formats are the formats that are read. The first one is our own.
var Formats = []string{"keystile", "csv", "casdoor", "keycloak", "zitadel", "auth0"}

// Item is a row of a file.
type Item struct {
	Line    int // on which it begins
	Row     importacts.Row
	Refused string // why it cannot be taken; "": it can
}

// File is a file of users.
type File struct {
	format  string
	open    func() (io.ReadCloser, error)
	issuers map[string]string
}

// Open returns the file of a format. issuers are issuers by what the file calls their providers; a provider whose
// issuer is "" is left out.
func Open(path, format string, issuers map[string]string) (*File, error) {
	if !slices.Contains(Formats, format) {
		return nil, fmt.Errorf("%q is no format: give one of %s", format, strings.Join(Formats, ", "))
	}
	switch about, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case about.IsDir(), !about.Mode().IsRegular() && format != "keystile" && format != "csv":
		return nil, fmt.Errorf("%s is no file: give one", path)
	}
	return &File{format, func() (io.ReadCloser, error) { return os.Open(path) }, issuers}, nil
}

// errSkip says that a record is not that of a person.
var errSkip = errors.New("no person")

// Items returns the rows of the file in order. An error is the last that comes: of what follows nothing is known.
func (f *File) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		stopped := errors.New("stopped")
		err := f.read(func(item Item) error {
			if !yield(item, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && err != stopped {
			yield(Item{}, err)
		}
	}
}

func (f *File) read(emit func(Item) error) error {
	n := newNames(f.issuers)
	switch f.format {
	case "keystile":
		return f.lines(emit, own)
	case "csv":
		return f.table(emit)
	case "keycloak":
		return f.document(emit, newKeycloak(n).source())
	case "zitadel":
		return f.document(emit, newZitadel(n).source())
	case "casdoor":
		return f.document(emit, newCasdoor(n).source())
	}
	a := auth0{n}
	in, err := f.text()
	if err != nil {
		return err
	}
	array := startsWith(in.Reader, '[')
	in.Close()
	if array {
		return f.document(emit, source{rows: []string{"[]"}, row: a.row})
	}
	return f.lines(emit, a.row)
}

// startsWith reports whether the first byte that is no space is this one.
func startsWith(in *bufio.Reader, want byte) bool {
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return false
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			return c == want
		}
	}
}

// text is an open file behind the mark that some programs begin UTF-8 with.
type text struct {
	*bufio.Reader
	io.Closer
}

func (f *File) text() (text, error) {
	in, err := f.open()
	if err != nil {
		return text{}, err
	}
	t := text{bufio.NewReaderSize(in, 64<<10), in}
	switch head, _ := t.Peek(3); {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		t.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		in.Close()
		return t, errors.New("the file is UTF-16: save it as UTF-8")
	}
	return t, nil
}

// take makes the Item of a record and emits it.
func take(emit func(Item) error, line int, raw []byte, read func([]byte) (importacts.Row, error)) error {
	row, err := read(raw)
	switch {
	case errors.Is(err, errSkip):
		return nil
	case err != nil:
		return emit(Item{Line: line, Refused: err.Error()})
	}
	return emit(Item{Line: line, Row: row})
}
