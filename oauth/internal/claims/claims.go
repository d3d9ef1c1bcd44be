package claims

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// Parts are the claims about a user that a scope opens (OpenID Connect Core 5.4).
type Parts uint8

// Parts.
const (
	Profile Parts = 1 << iota
	Email

	all = 1 << iota // how many sets of them there are
)

// Of returns what a space-separated scope opens.
func Of(granted string) (p Parts) {
	for name := range strings.FieldsSeq(granted) {
		switch name {
		case scope.Profile:
			p |= Profile
		case scope.Email:
			p |= Email
		}
	}
	return p
}

// AppendUserInfo appends the claims of protocol 2.3: all 13, always. Those that are not among the parts
// are empty.
func AppendUserInfo(to []byte, u storage.User, issuer string, open Parts) []byte {
	updated, loginType := u.UpdatedAt.Unix(), cmp.Or(u.LoginType, storage.LoginSelf)
	to = rawjson.AppendString(append(to, `{"sub":`...), u.Sub)
	to = strconv.AppendInt(append(to, `,"user_id":`...), u.ID, 10)
	told := storage.User{}
	if open&Profile != 0 {
		told = u
	}
	to = appendProfile(to, told, always)
	told = storage.User{}
	if open&Email != 0 {
		told = u
	}
	to = appendEmail(to, told, always)
	to = rawjson.AppendString(append(to, `,"login_type":`...), loginType)
	to = strconv.AppendInt(append(to, `,"updated_at":`...), updated, 10)
	return append(rawjson.AppendString(append(to, `,"iss":`...), issuer), '}')
}

// ID holds the claims of an id_token that are not about the user (protocol 2.4, OpenID Connect Core 2 and
// 3.1.3.6).
type ID struct {
	Issuer, Audience              string
	ExpiresAt, IssuedAt, AuthTime time.Time
	Nonce                         string // "": none
	AtHash                        string
	ACR                           string // "": not told
	AMR                           string // separated by spaces; "": not told
	SID                           string // the session (OpenID Connect Back-Channel Logout 2.1); "": not told
}

// Append appends the payload of an id_token about a user. A claim that is not known is left out (OpenID Connect Core
// 5.3.2).
func (c ID) Append(to []byte, u storage.User, open Parts) []byte {
	to = rawjson.AppendString(append(to, `{"iss":`...), c.Issuer)
	to = rawjson.AppendString(append(to, `,"sub":`...), u.Sub)
	to = rawjson.AppendString(append(to, `,"aud":`...), c.Audience)
	to = strconv.AppendInt(append(to, `,"exp":`...), c.ExpiresAt.Unix(), 10)
	to = strconv.AppendInt(append(to, `,"iat":`...), c.IssuedAt.Unix(), 10)
	if !c.AuthTime.IsZero() {
		to = strconv.AppendInt(append(to, `,"auth_time":`...), c.AuthTime.Unix(), 10)
	}
	if c.Nonce != "" {
		to = rawjson.AppendString(append(to, `,"nonce":`...), c.Nonce)
	}
	to = rawjson.AppendString(append(to, `,"at_hash":`...), c.AtHash)
	if c.ACR != "" {
		to = rawjson.AppendString(append(to, `,"acr":`...), c.ACR)
	}
	if c.AMR != "" {
		between := `,"amr":[`
		for method := range strings.FieldsSeq(c.AMR) {
			to = rawjson.AppendString(append(to, between...), method)
			between = `,`
		}
		to = append(to, ']')
	}
	if c.SID != "" {
		to = rawjson.AppendString(append(to, `,"sid":`...), c.SID)
	}
	if open&Profile != 0 {
		to = appendProfile(to, u, known)
	}
	if open&Email != 0 {
		to = appendEmail(to, u, known)
	}
	return append(to, '}')
}

// which says which claims are written.
type which func(value string) bool

func always(string) bool      { return true }
func known(value string) bool { return value != "" }

func appendProfile(to []byte, u storage.User, write which) []byte {
	to = appendText(to, `,"name":`, cmp.Or(u.Name, u.Nickname, u.Username), write)
	to = appendText(to, `,"nickname":`, cmp.Or(u.Nickname, u.Username), write)
	to = appendText(to, `,"preferred_username":`, u.Username, write)
	to = appendText(to, `,"picture":`, u.Picture, write)
	to = appendText(to, `,"gender":`, u.Gender, write)
	return appendText(to, `,"location":`, u.Location, write)
}

func appendEmail(to []byte, u storage.User, write which) []byte {
	to = appendText(to, `,"email":`, u.Email, write)
	if !write(u.Email) {
		return to
	}
	return strconv.AppendBool(append(to, `,"email_verified":`...), u.EmailVerified && u.Email != "")
}

func appendText(to []byte, name, value string, write which) []byte {
	if !write(value) {
		return to
	}
	return rawjson.AppendString(append(to, name...), value)
}
