package userfile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// casdoor reads the users of init_data.json, of the API get-users, or of the table user as an array of JSON.
type casdoor struct {
	*names
	types map[string]string // of the passwords of an organization
}

func newCasdoor(n *names) casdoor { return casdoor{n, map[string]string{}} }

func (c casdoor) source() source {
	return source{rows: []string{"[]", ".users[]", ".data[]"}, row: c.row,
		about: map[string]func([]byte) error{".organizations[]": c.organization}}
}

func (c casdoor) organization(raw []byte) error {
	var o struct{ Name, PasswordType string }
	if err := decode(raw, false, &o); err != nil {
		return err
	}
	c.types[o.Name] = o.PasswordType
	return nil
}

// casdoorUser has its fields as the API names them, and as the columns of the table are called.
type casdoorUser struct {
	Owner, Name, DisplayName, FirstName, LastName string
	Password, PasswordType, PasswordSalt          string
	Email                                         string
	EmailVerified, IsForbidden, IsDeleted         truth
	Groups                                        texts
	Properties                                    map[string]json.RawMessage
	Google                                        string
}

// truth is true, or 1 as databases write it.
type truth bool

func (f *truth) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "1":
		*f = true
	case "false", "0", "null":
	default:
		return fmt.Errorf("%s is neither true nor false", raw)
	}
	return nil
}

// texts is an array, or the text of one, as a column of the table has it.
type texts []string

func (t *texts) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if raw = []byte(text); text == "" {
			return nil
		}
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

func (c casdoor) row(raw []byte) (r importacts.Row, err error) {
	var columns map[string]json.RawMessage
	if err := decode(raw, false, &columns); err != nil {
		return r, err
	}
	for name, value := range columns {
		if spelled := plain(name); spelled != name {
			delete(columns, name)
			columns[spelled] = value
		}
	}
	var u casdoorUser
	again, err := json.Marshal(columns)
	if err == nil {
		err = decode(again, false, &u)
	}
	if err != nil {
		return r, err
	}
	if u.IsDeleted {
		return r, errSkip
	}
	r = importacts.Row{Username: u.Name, Name: fullName(u.DisplayName, u.FirstName, u.LastName), Email: u.Email,
		EmailVerified: bool(u.EmailVerified), Disabled: bool(u.IsForbidden)}
	if r.PasswordHash, err = c.hash(u); err != nil {
		return r, err
	}
	for _, name := range u.Groups {
		if err := c.group(&r, strings.TrimPrefix(name, u.Owner+"/")); err != nil {
			return r, err
		}
	}
	if u.Google != "" {
		if err := c.identify(&r, "google", u.Google); err != nil {
			return r, err
		}
	}
	return r, attributes(&r, u.Properties)
}

// hash returns the hash of a password in the form of its type.
func (c casdoor) hash(u casdoorUser) (string, error) {
	kind := u.PasswordType
	if kind == "" {
		kind = c.types[u.Owner]
	}
	switch {
	case u.Password == "":
		return "", nil
	case strings.Trim(u.Password, "*") == "":
		return "", errors.New("the password is masked: export the table, or init_data.json")
	}
	switch kind {
	case "bcrypt":
		return u.Password, nil
	case "argon2id":
		if u.PasswordSalt != "" {
			return "", errors.New("password: argon2id with a passwordSalt is of the salt and the password together, " +
				"which is not verified here")
		}
		return u.Password, nil
	case "pbkdf2-salt":
		salt, _ := base64.StdEncoding.DecodeString(u.PasswordSalt) // Casdoor takes what can be decoded of it
		key, err := binary("the hash", "base64", u.Password)
		return pbkdf2("sha256", 27500, salt, key), err
	case "pbkdf2-django":
		return django(u.Password)
	case "plain":
		return "", errPlain
	case "":
		if strings.HasPrefix(u.Password, "$2") || strings.HasPrefix(u.Password, "$argon2") && u.PasswordSalt == "" {
			return u.Password, nil
		}
	}
	return "", fmt.Errorf("password: the passwordType %q is not verified here", kind)
}
