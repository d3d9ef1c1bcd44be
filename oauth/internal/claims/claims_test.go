package claims

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// The same claims as encoding/json writes them.

type profile struct {
	Name              string `json:"name"`
	Nickname          string `json:"nickname"`
	PreferredUsername string `json:"preferred_username"`
	Picture           string `json:"picture"`
	Gender            string `json:"gender"`
	Location          string `json:"location"`
}

type email struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

type userInfo struct {
	Subject string `json:"sub"`
	UserID  int64  `json:"user_id"`
	profile
	email
	LoginType string `json:"login_type"`
	UpdatedAt int64  `json:"updated_at"`
	Issuer    string `json:"iss"`
}

type idToken struct {
	Issuer            string `json:"iss"`
	Subject           string `json:"sub"`
	Audience          string `json:"aud"`
	Expires           int64  `json:"exp"`
	IssuedAt          int64  `json:"iat"`
	AuthTime          *int64 `json:"auth_time,omitempty"`
	Nonce             string `json:"nonce,omitempty"`
	AtHash            string `json:"at_hash"`
	Name              string `json:"name,omitempty"`
	Nickname          string `json:"nickname,omitempty"`
	PreferredUsername string `json:"preferred_username,omitempty"`
	Picture           string `json:"picture,omitempty"`
	Gender            string `json:"gender,omitempty"`
	Location          string `json:"location,omitempty"`
	*knownEmail
}

type knownEmail struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

func profileOf(u storage.User) profile {
	return profile{cmp.Or(u.Name, u.Nickname, u.Username), cmp.Or(u.Nickname, u.Username), u.Username, u.Picture, u.Gender,
		u.Location}
}

func emailOf(u storage.User) email { return email{u.Email, u.EmailVerified && u.Email != ""} }

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var letters = []string{"a", "Z", "7", " ", "<", "&", `"`, `\`, "/", "\n", "\x00", "\x7f", "é", "密", "😀", "\u2028", "\u202e", "\xff", "\xed\xa0\x80", "\ufffd"}

func text(r *rand.Rand) (s string) {
	for range r.IntN(3) * r.IntN(8) {
		s += letters[r.IntN(len(letters))]
	}
	return s
}

func anybody(r *rand.Rand) storage.User {
	return storage.User{
		Sub: text(r), ID: r.Int64() - r.Int64(), Username: text(r), Name: text(r), Nickname: text(r), Picture: text(r),
		Email:         text(r),
		EmailVerified: r.IntN(2) == 0, Gender: text(r), Location: text(r), LoginType: text(r), UpdatedAt: moment(r),
	}
}

func moment(r *rand.Rand) time.Time {
	if r.IntN(5) == 0 {
		return time.Time{}
	}
	return time.Unix(r.Int64N(1<<40)-1<<39, r.Int64N(1e9))
}

func TestClaimsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		u, open, issuer := anybody(r), Parts(r.IntN(all)), text(r)
		info := userInfo{Subject: u.Sub, UserID: u.ID, LoginType: cmp.Or(u.LoginType, storage.LoginSelf),
			UpdatedAt: u.UpdatedAt.Unix(), Issuer: issuer}
		c := ID{Issuer: issuer, Audience: text(r), ExpiresAt: moment(r), IssuedAt: moment(r), AuthTime: moment(r),
			Nonce: text(r), AtHash: text(r)}
		id := idToken{
			Issuer: issuer, Subject: u.Sub, Audience: c.Audience, Expires: c.ExpiresAt.Unix(), IssuedAt: c.IssuedAt.Unix(),
			Nonce: c.Nonce, AtHash: c.AtHash,
		}
		if !c.AuthTime.IsZero() { // it is known
			id.AuthTime = new(c.AuthTime.Unix())
		}
		if open&Profile != 0 {
			p := profileOf(u)
			info.profile = p
			id.Name, id.Nickname, id.PreferredUsername, id.Picture, id.Gender, id.Location = p.Name, p.Nickname,
				p.PreferredUsername, p.Picture, p.Gender, p.Location
		}
		if open&Email != 0 {
			info.email = emailOf(u)
			if u.Email != "" {
				id.knownEmail = &knownEmail{u.Email, u.EmailVerified}
			}
		}
		if got, want := AppendUserInfo(nil, u, issuer, open), encoded(t, info); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: userinfo of %+v with %d is\n%s, want\n%s", seed, u, open, got, want)
		}
		if got, want := c.Append(nil, u, open), encoded(t, id); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the id_token %+v of %+v with %d is\n%s, want\n%s", seed, c, u, open, got, want)
		}
	}
}

func TestScopeOpensWhatItNames(t *testing.T) {
	for granted, want := range map[string]Parts{
		"": 0, "openid": 0, "profile": Profile, "email openid": Email, "openid profile email": Profile | Email,
		"profiles emails tools:profile": 0, " profile\tprofile ": Profile,
	} {
		if got := Of(granted); got != want {
			t.Errorf("Of(%q) = %d, want %d", granted, got, want)
		}
	}
}
