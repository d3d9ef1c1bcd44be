package userfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// columns are the names that a header has. One more of each attribute may follow, attributes.NAME, for values with
// blanks in them.
var columns = []string{"username", "email", "email_verified", "name", "nickname", "password_hash", "groups",
	"attributes", "external_ids", "disabled", "role", "roles"}

const attributeColumn = "attributes."

// table reads CSV with a header.
func (f *File) table(emit func(Item) error) error {
	in, err := f.text()
	if err != nil {
		return err
	}
	defer in.Close()
	bounded := &counted{in: in}
	r := csv.NewReader(bounded)
	consumed := int64(0) // in front of the record that is read
	bounded.consumed = func() int64 { return consumed }
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err == io.EOF {
		return errors.New("the file is empty: its first line names the columns")
	}
	if err != nil {
		return err
	}
	if err := checkHeader(header); err != nil {
		return err
	}
	for {
		consumed = r.InputOffset()
		record, err := r.Read()
		wrong := (*csv.ParseError)(nil)
		item := Item{}
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &wrong):
			item = Item{Line: wrong.StartLine, Refused: "not read: " + wrong.Err.Error()}
		case err != nil:
			return err
		default:
			item.Line, _ = r.FieldPos(0)
			if item.Row, err = rowOf(header, record); err != nil {
				item.Refused = err.Error()
			}
		}
		if err := emit(item); err != nil {
			return err
		}
	}
}

func checkHeader(header []string) error {
	for i, name := range header {
		name = strings.TrimSpace(name)
		header[i] = name
		known := slices.Contains(columns, name) || strings.HasPrefix(name, attributeColumn)
		switch {
		case !known:
			return fmt.Errorf("line 1: %q is no column: the first line names the columns, of %s", name,
				strings.Join(columns[:len(columns)-2], ", "))
		case slices.Contains(header[:i], name):
			return fmt.Errorf("line 1: the column %q is there twice", name)
		}
	}
	if !slices.Contains(header, "username") {
		return errors.New("line 1: there is no column username")
	}
	return nil
}

// rowOf makes a Row of a record. Lists are separated by blanks; attributes are NAME=VALUE.
func rowOf(header, record []string) (r importacts.Row, err error) {
	if len(record) != len(header) {
		return r, fmt.Errorf("not read: it has %d fields, and the header %d", len(record), len(header))
	}
	attributes := map[string]string{}
	set := func(name, value string) {
		if _, twice := attributes[name]; twice {
			err = fmt.Errorf("attributes: %q is there twice", name)
		}
		attributes[name] = value
	}
	flag := func(name, value string) bool {
		on, wrong := strconv.ParseBool(value)
		if value != "" && wrong != nil {
			err = fmt.Errorf("%s: true or false, not %q", name, value)
		}
		return on
	}
	for i, name := range header {
		value := record[i]
		if !utf8.ValidString(value) {
			return r, errUTF8
		}
		switch name {
		case "email_verified":
			r.EmailVerified = flag(name, value)
		case "disabled":
			r.Disabled = flag(name, value)
		case "groups":
			r.Groups = strings.Fields(value)
		case "external_ids":
			r.ExternalIDs = strings.Fields(value)
		case "attributes":
			for _, pair := range strings.Fields(value) {
				key, text, is := strings.Cut(pair, "=")
				if !is {
					return r, fmt.Errorf("attributes: NAME=VALUE, separated by blanks, not %q", pair)
				}
				set(key, text)
			}
		case "role", "roles": // they are never taken from a file
		default:
			if to := textOf(&r, name); to != nil {
				*to = value
			} else if value != "" {
				set(strings.TrimPrefix(name, attributeColumn), value)
			}
		}
	}
	if len(attributes) > 0 {
		r.Attributes = attributes
	}
	return r, err
}

func textOf(r *importacts.Row, column string) *string {
	return map[string]*string{"username": &r.Username, "email": &r.Email, "name": &r.Name, "nickname": &r.Nickname,
		"password_hash": &r.PasswordHash}[column]
}
