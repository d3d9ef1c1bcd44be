package connector

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

const (
	tokenMember = "alipay_system_oauth_token_response"
	userMember  = "alipay_user_info_share_response"
)

// An attacker who could change one byte between alipay and us could sign in as any user.
func TestAnswersThatAlipayHasNotSignedLetNobodyIn(t *testing.T) {
	theirs, other := keys()[1], keys()[2]
	token := `{"access_token":"the-access-token","open_id":"o1","user_id":"u1"}`
	user := `{"code":"10000","open_id":"o1","user_id":"u1","avatar":"https:\/\/a.example\/x"}`
	good := signedBody(theirs, userMember, user)
	sign := must(parseObject([]byte(good))).text("sign")
	for what, body := range map[string]string{
		"a changed byte":                 strings.Replace(good, `"u1"`, `"u2"`, 1),
		"a blank more":                   strings.Replace(good, `"u1"`, `"u1" `, 1),
		"slashes written otherwise":      strings.Replace(good, `\/x`, `/x`, 1),
		"the members in another order":   `{"` + userMember + `":{"open_id":"o1","code":"10000","user_id":"u1","avatar":"https:\/\/a.example\/x"},"sign":"` + sign + `"}`,
		"the key of somebody else":       signedBody(other, userMember, user),
		"our own key":                    signedBody(keys()[0], userMember, user),
		"another member name":            signedBody(theirs, "alipay_user_userinfo_share_response", user),
		"the name of the other answer":   signedBody(theirs, tokenMember, user),
		"a name in another case":         signedBody(theirs, strings.ToUpper(userMember), user),
		"the other answer's signature":   `{"` + userMember + `":` + user + `,"sign":"` + must(parseObject([]byte(signedBody(theirs, tokenMember, token)))).text("sign") + `"}`,
		"no signature":                   `{"` + userMember + `":` + user + `}`,
		"an empty signature":             `{"` + userMember + `":` + user + `,"sign":""}`,
		"a signature that is none":       `{"` + userMember + `":` + user + `,"sign":"BASE64"}`,
		"a signature that is an object":  `{"` + userMember + `":` + user + `,"sign":{}}`,
		"a second member behind":         strings.TrimSuffix(good, "}") + `,"` + userMember + `":{"code":"10000","user_id":"u2"}}`,
		"the object inside of a string":  signedBody(theirs, userMember, `"{\"user_id\":\"u1\"}"`),
		"an array":                       signedBody(theirs, userMember, `[`+user+`]`),
		"the signature inside of itself": strings.Replace(`{"`+userMember+`":`+strings.TrimSuffix(user, "}")+`,"sign":"`+sign+`"}}`, " ", "", -1),
	} {
		c, _ := scripted(t, "alipay",
			map[string][]cannedResponse{alipayPath: {ok(signedBody(theirs, tokenMember, token)), ok(body)}})
		p, err := c.Finish(t.Context(), back, returned("alipay"))
		if !errors.As(err, new(*Trouble)) || p.Subjects != nil {
			t.Errorf("%s: %v, %v, want a Trouble", what, p, err)
		}
	}
	c, _ := scripted(t, "alipay",
		map[string][]cannedResponse{alipayPath: {ok(signedBody(theirs, tokenMember, token)), ok(good)}})
	if p, err := c.Finish(t.Context(), back, returned("alipay")); err != nil || p.Avatar != "https://a.example/x" {
		t.Errorf("what is signed = %v, %v", p, err)
	}
}

// The token's answer is verified like the user's.
func TestTokenThatIsNotSignedIsNotUsed(t *testing.T) {
	for what, body := range map[string]string{
		"no signature":      `{"` + tokenMember + `":{"access_token":"t","user_id":"u1"}}`,
		"somebody's else":   signedBody(keys()[2], tokenMember, `{"access_token":"t","user_id":"u1"}`),
		"the user's answer": signedBody(keys()[1], userMember, `{"access_token":"t","user_id":"u1"}`),
	} {
		c, s := scripted(t, "alipay", map[string][]cannedResponse{alipayPath: {ok(body)}})
		if p, err := c.Finish(t.Context(), back, returned("alipay")); !errors.As(err, new(*Trouble)) || len(s.requests) != 1 {
			t.Errorf("%s: %v, %v after %d requests, want a Trouble after 1", what, p, err, len(s.requests))
		}
	}
}

// A refusal lets nobody in, so it counts without a signature, too: the gateway cannot sign
// for an application that it does not recognise.
func TestRefusalOfAlipayIsBelievedUnsigned(t *testing.T) {
	for body, want := range map[string]string{
		`{"error_response":{"code":"40002","msg":"Invalid Arguments","sub_code":"isv.invalid-app-id","sub_msg":"x"}}`: "isv.invalid-app-id",
		`{"error_response":{"code":"20000","msg":"Service Currently Unavailable"}}`:                                   "20000",
		`{"` + tokenMember + `":{"code":"40004","msg":"Business Failed"}}`:                                            "40004",
		`{"` + tokenMember + `":{"code":40004}}`:                                                                      "40004",
		`{"error_response":{}}`:                                                                                       "unreadable",
		`{"error_response":null,"` + tokenMember + `":{"access_token":"t"}}`:                                          "unreadable",
	} {
		c, _ := scripted(t, "alipay", map[string][]cannedResponse{alipayPath: {ok(body)}})
		_, err := c.Finish(t.Context(), back, returned("alipay"))
		if trouble := new(Trouble); !errors.As(err, &trouble) || trouble.Code != want {
			t.Errorf("%s = %v, want a Trouble with code %s", body, err, want)
		}
	}
}

// Applications of today get an open_id alone, older ones a user_id alone.
func TestAlipayHasTwoIdsOfAUser(t *testing.T) {
	for id, want := range map[string]string{`"open_id":"o1"`: "o:2021000000000001:o1", `"user_id":"2088"`: "u:2088", `"user_id":2088`: "u:2088"} {
		c, _ := scripted(t, "alipay", map[string][]cannedResponse{alipayPath: {
			ok(signedBody(keys()[1], tokenMember, `{"access_token":"t",`+id+`}`)), ok(signedBody(keys()[1], userMember, `{"code":"10000",`+id+`}`)),
		}})
		p, err := c.Finish(t.Context(), back, returned("alipay"))
		if err != nil || len(p.Subjects) != 1 || p.Subjects[0] != want {
			t.Errorf("%s = %v, %v, want %s", id, p, err, want)
		}
	}
}

func TestKeysAreReadInEveryFormTheyAreGivenIn(t *testing.T) {
	key := keys()[0]
	pkcs1 := x509.MarshalPKCS1PrivateKey(key)
	public1 := x509.MarshalPKCS1PublicKey(&keys()[1].PublicKey)
	armour := func(kind string, raw []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
	}
	bare := base64.StdEncoding.EncodeToString(pkcs1)
	for what, text := range map[string]string{
		"PKCS#8 in PEM": pkcs8(key), "PKCS#1 in PEM": armour("RSA PRIVATE KEY", pkcs1), "PKCS#1 bare": bare,
		"in lines": bare[:64] + "\r\n" + bare[64:] + "\n",
		"PKCS#8 bare": strings.Join(strings.Split(strings.TrimSpace(pkcs8(key)),
			"\n")[1:strings.Count(strings.TrimSpace(pkcs8(key)), "\n")], ""),
		"PEM in one line of an environment": strings.ReplaceAll(pkcs8(key), "\n", `\n`),
	} {
		if got, err := readPrivateKey(text); err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, text := range map[string]string{
		"bare": pkix(keys()[1]), "PKCS#1 bare": base64.StdEncoding.EncodeToString(public1),
		"PKCS#1 in PEM": armour("RSA PUBLIC KEY", public1),
	} {
		if got, err := readPublicKey(text); err != nil || !got.Equal(&keys()[1].PublicKey) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// All faults of a Config are reported at once, and without quoting a secret.
func TestConfigErrorsAreReportedAllAtOnce(t *testing.T) {
	small, _ := rsa.GenerateKey(rand.Reader, 1024)
	smallKey := base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(small))
	private, public := storage.NewSecret(pkcs8(keys()[0])), pkix(keys()[1])
	for i, c := range []struct {
		make func() (Connector, error)
		want []string
	}{
		{func() (Connector, error) { return NewWX(WX{}) }, []string{"connector wx: ID", "connector wx: Secret"}},
		{func() (Connector, error) {
			return NewQQ(QQ{ID: "a:b", AuthorizeURL: "ftp://x", TokenURL: "/x", OpenIDURL: "https://u@x/",
				UserURL: "https://x/#f"})
		}, []string{"ID", "Secret", "AuthorizeURL", "TokenURL", "OpenIDURL", "UserURL"}},
		{func() (Connector, error) {
			return NewDouyin(Douyin{ID: "a b", Secret: storage.NewSecret(secret), TokenURL: "https://"})
		}, []string{"ID", "TokenURL"}},
		{func() (Connector, error) { return NewAlipay(Alipay{}) }, []string{"ID", "PrivateKey", "PublicKey"}},
		{func() (Connector, error) {
			return NewAlipay(Alipay{ID: "1", PrivateKey: storage.NewSecret(secret), PublicKey: "!"})
		}, []string{"PrivateKey: it is no RSA key", "PublicKey: it is no RSA key"}},
		{func() (Connector, error) {
			return NewAlipay(Alipay{ID: "1", PrivateKey: storage.NewSecret(smallKey), PublicKey: pkix(small)})
		}, []string{"PrivateKey: it has fewer", "PublicKey: it has fewer"}},
		{func() (Connector, error) {
			return NewAlipay(Alipay{ID: "1", PrivateKey: private, PublicKey: pkix(keys()[0])})
		}, []string{"the application's own"}},
		{func() (Connector, error) {
			return NewAlipay(Alipay{ID: "1", PrivateKey: private, PublicKey: private.Reveal()})
		}, []string{"PublicKey: it is a private key"}},
		{func() (Connector, error) {
			return NewAlipay(Alipay{ID: "1", PrivateKey: storage.NewSecret(public),
				PublicKey: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"})
		}, []string{"PrivateKey: it is no RSA key", "certificate"}},
	} {
		got, err := c.make()
		if got != nil || err == nil {
			t.Errorf("%d: %v, %v, want complaints", i, got, err)
			continue
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines != len(c.want) {
			t.Errorf("%d: %d complaints, want %d:\n%v", i, lines, len(c.want), err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%d: %v does not say %q", i, err, want)
			}
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), smallKey[:40]) {
			t.Errorf("%d: a secret is quoted: %v", i, err)
		}
	}
	for _, name := range names {
		if text := fmt.Sprintf("%v %+v %#v", WX{Secret: storage.NewSecret(secret)}, connect(t, name, nil),
			connect(t, name, nil)); strings.Contains(text, secret) {
			t.Errorf("%s: printing tells the secret", name)
		}
	}
}
