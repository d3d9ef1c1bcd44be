package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// testUser is a made-up user of the providers.
type testUser struct {
	Key, Name, About string
	gender           string // male, female or ""
	place            [3]string
	unionFrom        int  // the visit from which on there is a unionid; 0: never
	stranger         bool // a member of no corporation; they are shown at wecom alone
}

var testUsers = []testUser{
	{Key: "lin", Name: "林晓雨", About: "known by unionid and openid", gender: "female", place: [3]string{"中国", "上海", "上海"},
		unionFrom: 1},
	{Key: "omar", Name: "Omar Haddad", About: "has no unionid, and little of a profile", unionFrom: 0},
	{Key: "mei", Name: "Mei Tanaka", About: "has a unionid from the second visit on", gender: "female",
		place: [3]string{"中国", "广东", "深圳"}, unionFrom: 2},
	{Key: "robert", Name: "<b>Robert</b> 🦊", About: "has a name that looks like HTML", gender: "male",
		place: [3]string{"", "", "London"}, unionFrom: 1},
	{Key: "kit", Name: "Kit\x14Moreau", About: "has a control character in the name", gender: "male", unionFrom: 1},
	{Key: "zhou", Name: "周远", About: "is no member of the corporation", stranger: true},
}

// testUsersAt returns the test users on the page of a provider.
func testUsersAt(provider string) []testUser {
	if provider == "wecom" {
		return testUsers
	}
	return slices.DeleteFunc(slices.Clone(testUsers), func(p testUser) bool { return p.stranger })
}

func testUserOf(key string) (testUser, bool) {
	for _, p := range testUsers {
		if p.Key == key {
			return p, true
		}
	}
	return testUser{}, false
}

// Letter returns the letter in the picture.
func (p testUser) Letter() string {
	return string([]rune(strings.TrimPrefix(p.Name, "<b>"))[:1])
}

func (p testUser) digest(provider, what string) []byte {
	sum := sha256.Sum256([]byte("a made-up person|" + provider + "|" + what + "|" + p.Key))
	return sum[:]
}

// openID returns the id of a test user for one application, in the provider's format.
func (p testUser) openID(provider string) string {
	h := hex.EncodeToString(p.digest(provider, "openid"))
	switch provider {
	case "wx":
		return "o" + h[:27]
	case "qq":
		return strings.ToUpper(h[:32])
	case "alipay":
		return h[:47]
	case "feishu":
		return "ou_" + h[:32]
	case "dingtalk":
		return h[:20] + "iE"
	case "wecom": // as an administrator may have written it
		return strings.ToUpper(p.Key[:1]) + p.Key[1:]
	default:
		return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:32])
	}
}

// unionID returns the id of a test user for all applications of one operator.
func (p testUser) unionID(provider string) string {
	sum := p.digest(provider, "unionid")
	if provider == "alipay" { // 16 digits, beginning with 2088
		n := new(big.Int).Mod(new(big.Int).SetBytes(sum), big.NewInt(1e12))
		return fmt.Sprintf("2088%012d", n)
	}
	return "UID_" + strings.ToUpper(hex.EncodeToString(sum[:12]))
}

// genderAs says a gender in the provider's words.
func (p testUser) genderAs(male, female, unknown any) any {
	switch p.gender {
	case "male":
		return male
	case "female":
		return female
	}
	return unknown
}
