package claims

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

// Extend returns a JSON object with more members, each of which begins with a comma. The object is not empty.
func Extend(object, members []byte) []byte {
	return append(append(object[:len(object)-1], members...), '}')
}

// AppendGroups appends the claim groups.
func AppendGroups(to []byte, names []string) []byte {
	size := len(`,"groups":[]`)
	for _, name := range names {
		size += len(name) + len(`"",`)
	}
	return rawjson.AppendStrings(append(slices.Grow(to, size), `,"groups":`...), names)
}

// AppendRuled appends the claims of rules, sorted by name.
func AppendRuled(to []byte, all map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[name])
		if err != nil {
			continue // claim.Of returns none of these
		}
		to = appendMember(to, name, text)
	}
	return to
}

func appendMember(to []byte, name string, value []byte) []byte {
	return append(append(rawjson.AppendString(append(to, ','), name), ':'), value...)
}

// Known returns what rules know of a user who is in groups. The fields say what userinfo says.
func Known(u storage.User, groups []string) claim.User {
	fields := map[string]any{
		"username": u.Username, "name": cmp.Or(u.Name, u.Nickname, u.Username), "nickname": cmp.Or(u.Nickname, u.Username),
		"email": u.Email, "location": u.Location, "gender": u.Gender, "login_type": cmp.Or(u.LoginType, storage.LoginSelf),
	}
	if u.Email != "" {
		fields["email_verified"] = u.EmailVerified
	}
	if !u.CreatedAt.IsZero() {
		fields["created_at"] = u.CreatedAt.Unix()
	}
	return claim.User{Attributes: u.Attributes, Groups: groups, Fields: fields}
}
