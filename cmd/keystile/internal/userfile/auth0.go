package userfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/keystile/keystile/internal/admin/importacts"
)

// auth0 reads the export of password hashes, which has a user on each line, and the array that bulk imports take.
type auth0 struct{ *names }

type auth0User struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Username      string `json:"username"`
	Name          string `json:"name"`
	GivenName     string `json:"given_name"`
	FamilyName    string `json:"family_name"`
	Nickname      string `json:"nickname"`
	Blocked       bool   `json:"blocked"`

	PasswordHash string     `json:"passwordHash"`  // of the export
	BulkHash     string     `json:"password_hash"` // of a bulk import
	Custom       *auth0Hash `json:"custom_password_hash"`

	UserMetadata map[string]json.RawMessage `json:"user_metadata"`
	AppMetadata  map[string]json.RawMessage `json:"app_metadata"`

	Identifiers []struct { // where the address may stand instead
		Type, Value string
		Verified    bool
	} `json:"identifiers"`
	Identities []struct {
		Provider string          `json:"provider"`
		ID       json.RawMessage `json:"user_id"` // a text, or a number
	} `json:"identities"`
}

// auth0Hash is a custom_password_hash.
type auth0Hash struct {
	Algorithm string    `json:"algorithm"`
	Hash      auth0Text `json:"hash"`
	Salt      auth0Text `json:"salt"`
	Password  auth0Text `json:"password"`

	KeyLen int `json:"keylen"`
	Cost   int `json:"cost"`
	Block  int `json:"blockSize"`
	Lanes  int `json:"parallelization"`
}

type auth0Text struct {
	Value    string `json:"value"`
	Encoding string `json:"encoding"`
}

func (a auth0) row(raw []byte) (r importacts.Row, err error) {
	var u auth0User
	if err := decode(raw, false, &u); err != nil {
		return r, err
	}
	for _, i := range u.Identifiers {
		switch {
		case i.Type == "email" && u.Email == "":
			u.Email, u.EmailVerified = i.Value, i.Verified
		case i.Type == "username" && u.Username == "":
			u.Username = i.Value
		}
	}
	// Users without a username type their address, so it is what they are found by here.
	r = importacts.Row{Username: cmp.Or(u.Username, u.Email), Email: u.Email, EmailVerified: u.EmailVerified,
		Name: fullName(u.Name, u.GivenName, u.FamilyName), Nickname: u.Nickname, Disabled: u.Blocked,
		PasswordHash: cmp.Or(u.PasswordHash, u.BulkHash)}
	if u.Custom != nil && r.PasswordHash == "" {
		if r.PasswordHash, err = u.Custom.phc(); err != nil {
			return r, err
		}
	}
	for _, i := range u.Identities {
		if i.Provider == "auth0" { // the account itself
			continue
		}
		if err := a.identify(&r, i.Provider, textValue(i.ID)); err != nil {
			return r, err
		}
	}
	if err := attributes(&r, u.UserMetadata); err != nil {
		return r, err
	}
	return r, attributes(&r, u.AppMetadata)
}

func (h auth0Hash) phc() (string, error) {
	if cmp.Or(h.Password.Encoding, "utf8") != "utf8" {
		return "", fmt.Errorf("password: it was hashed as %s, and is only verified as utf8", h.Password.Encoding)
	}
	switch h.Algorithm {
	case "bcrypt", "argon2", "pbkdf2": // all of it stands in one text
		if h.Salt.Value != "" {
			return "", errors.New("password: a hash of " + h.Algorithm + " has its salt in hash.value")
		}
		return h.Hash.Value, nil
	case "scrypt":
		key, err := binary("the hash", cmp.Or(h.Hash.Encoding, "base64"), h.Hash.Value)
		if err != nil {
			return "", err
		}
		salt, err := binary("the salt", cmp.Or(h.Salt.Encoding, "utf8"), h.Salt.Value)
		switch {
		case err != nil:
			return "", err
		case h.KeyLen != 0 && h.KeyLen != len(key):
			return "", fmt.Errorf("password: the hash has %d bytes, and keylen is %d", len(key), h.KeyLen)
		}
		return scrypt(cmp.Or(h.Cost, 16384), cmp.Or(h.Block, 8), cmp.Or(h.Lanes, 1), salt, key)
	}
	return "", fmt.Errorf("password: the algorithm %q is not verified here", h.Algorithm)
}
