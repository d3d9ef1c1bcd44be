package demo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// expected holds the claims that an id_token must have (OpenID Connect Core 3.1.3.7).
type expected struct {
	issuer string
	app    storage.App
	nonce  string
	at     time.Time
}

// verify judges an id_token as an application does that knows nothing but its secret:
// HS256 and nothing else, whatever the token's own header asks for.
func (e expected) verify(idToken string) error {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 {
		return errors.New("it has not three parts")
	}
	var header struct{ Alg string }
	if err := decode(parts[0], &header); err != nil {
		return err
	}
	if header.Alg != "HS256" {
		return fmt.Errorf("it is signed with %q; the demo knows HS256 only", header.Alg)
	}
	mac := hmac.New(sha256.New, []byte(e.app.AppKey().Reveal()))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		return errors.New("its signature is not made with our secret")
	}
	return e.judge(parts[1])
}

func (e expected) judge(payload string) error {
	var claims struct {
		Iss, Aud, Nonce string
		Exp             int64
	}
	if err := decode(payload, &claims); err != nil {
		return err
	}
	switch {
	case claims.Iss != e.issuer:
		return fmt.Errorf("its issuer is %q", claims.Iss)
	case claims.Aud != e.app.ID:
		return fmt.Errorf("it is for %q", claims.Aud)
	case claims.Nonce != e.nonce:
		return errors.New("its nonce is not ours")
	case !e.at.Before(time.Unix(claims.Exp, 0)):
		return errors.New("it has expired")
	}
	return nil
}

func decode(part string, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
