package userfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/admin/importacts"
)

var (
	errUTF8   = errors.New("it is not UTF-8: save the file as UTF-8")
	errLength = fmt.Errorf("it has more than %d bytes", maxRow)
)

// lines reads a file with a JSON object on each line. A line that is too long is refused as a row, and passed over.
func (f *File) lines(emit func(Item) error, read func([]byte) (importacts.Row, error)) error {
	in, err := f.text()
	if err != nil {
		return err
	}
	defer in.Close()
	for line := 1; ; line++ {
		raw, err := readLine(in.Reader)
		switch {
		case errors.Is(err, errLength):
			if err := emit(Item{Line: line, Refused: err.Error()}); err != nil {
				return err
			}
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", line, err)
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		if err := take(emit, line, raw, read); err != nil {
			return err
		}
	}
}

// readLine reads a line. Of one that is too long nothing is kept.
func readLine(in *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRow; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (long || len(line) > 0), err == nil:
			if long {
				return nil, errLength
			}
			return line, nil
		default:
			return nil, err
		}
	}
}

// decode reads one JSON value, and nothing behind it.
func decode(raw []byte, strict bool, into any) error {
	if !utf8.Valid(raw) {
		return errUTF8
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if strict {
		d.DisallowUnknownFields()
	}
	wrong := (*json.UnmarshalTypeError)(nil)
	switch err := d.Decode(into); {
	case errors.As(err, &wrong):
		return fmt.Errorf("not read: %s cannot be of the type %s", cmp.Or(wrong.Field, "a row"), wrong.Value)
	case err != nil:
		return errors.New("not read: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("not read: one JSON object on each line")
	}
	return nil
}

// ownRow is a Row as our format writes it. Roles are never taken from a file: they may stand there, and say nothing.
type ownRow struct {
	importacts.Row
	Role  json.RawMessage `json:"role"`
	Roles json.RawMessage `json:"roles"`
}

func own(raw []byte) (importacts.Row, error) {
	var row ownRow
	err := decode(raw, true, &row)
	return row.Row, err
}
