package token

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestTokenIsForItsAudienceOnly(t *testing.T) {
	v, _ := verifier(t, ES256)
	const mcp = issuer + "/api/mcp"
	own, other := mint(t, v.keys, nil), mint(t, v.keys, func(c *Claims) { c.Audience = mcp })
	both := resign(t, v.keys, `"aud":"`+issuer+`"`, `"aud":["https://x.example","`+mcp+`","`+issuer+`"]`)
	for range 2 { // the second time they are remembered, whatever was asked first
		for _, c := range []struct {
			name, bearer string
			audiences    []string
			want         string
		}{
			{"own", own, nil, issuer},
			{"own", own, []string{mcp, issuer}, issuer},
			{"own", own, []string{mcp}, ""},
			{"other", other, []string{mcp}, mcp},
			{"other", other, nil, ""},
			{"other", other, []string{issuer}, ""},
			{"both", both, nil, issuer},
			{"both", both, []string{issuer}, issuer},
			{"both", both, []string{issuer, mcp}, mcp},
			{"both", both, []string{"https://y.example"}, ""},
		} {
			caller, err := v.Verify(t.Context(), c.bearer, c.audiences...)
			if caller.Audience != c.want || (c.want == "") != errors.Is(err, ErrInvalid) {
				t.Errorf("Verify(%s, %q) = %q, %v, want %q", c.name, c.audiences, caller.Audience, err, c.want)
			}
		}
	}
}

func TestRememberedTokenIsKnownByEveryByte(t *testing.T) {
	v, _ := verifier(t, EdDSA)
	bearer := mint(t, v.keys, nil)
	if _, err := v.Verify(t.Context(), bearer); err != nil {
		t.Fatalf("Verify() = %v, want no error", err)
	}
	for i := range len(bearer) {
		changed := []byte(bearer)
		changed[i] ^= 1
		if _, err := v.Verify(t.Context(), string(changed)); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(byte %d of %d changed) = %v, want ErrInvalid", i, len(bearer), err)
		}
	}
	for _, part := range []string{bearer[:len(bearer)-1], bearer + "A", bearer + ".", ""} {
		if _, err := v.Verify(t.Context(), part); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(%d bytes of %d) = %v, want ErrInvalid", len(part), len(bearer), err)
		}
	}
}

func TestTypComesInTwoSpellingsAndAnyCase(t *testing.T) {
	v, _ := verifier(t, ES256)
	for typ, want := range map[string]error{
		"at+jwt": nil, "AT+JWT": nil, "application/at+jwt": nil, "Application/AT+jwt": nil,
		"JWT": ErrInvalid, "": ErrInvalid, "application/jwt": ErrInvalid, "at+jwt ": ErrInvalid,
	} {
		token, err := v.keys.Sign("", typ, genuine().append(nil))
		if err != nil {
			t.Fatalf("Sign(%q) = %v, want no error", typ, err)
		}
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("Verify(typ %q) = %v, want %v", typ, err, want)
		}
	}
}

func TestTokenWorksFor168HoursAndNotASecondLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := verifier(t, ES256)
		bearer, fresh := mint(t, v.keys, nil), mint(t, v.keys, func(c *Claims) { c.ID = "j2" })
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("Verify(new) = %v, want no error", err)
		}
		time.Sleep(week - 1)
		for _, token := range []string{bearer, fresh} {
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Errorf("Verify(in its last nanosecond) = %v, want no error", err)
			}
		}
		time.Sleep(time.Nanosecond)
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(expired, remembered) = %v, want ErrInvalid", err)
		}
		v.cache = newCache(0)
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(expired) = %v, want ErrInvalid", err)
		}
	})
}

func TestClockThatIsAMinuteAheadIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := verifier(t, ES256)
		in := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
		iat := `"iat":` + in(0)
		for _, c := range []struct {
			with string
			want error
		}{
			{`"iat":` + in(119*time.Second), nil},
			{`"iat":` + in(121*time.Second), ErrInvalid},
			{`"iat":0`, nil},
			{iat + `,"nbf":` + in(0), nil},
			{iat + `,"nbf":` + in(-time.Hour), nil},
			{iat + `,"nbf":` + in(time.Second), ErrInvalid},
			{`"iat":` + in(121*time.Second) + `,"nbf":0`, ErrInvalid},
			{iat + `,"amr":["pwd",{"a":1,"a":2}],"act":{"sub":"x"}`, nil}, // unknown claims are left alone
		} {
			if _, err := v.Verify(t.Context(), resign(t, v.keys, iat, c.with)); !errors.Is(err, c.want) {
				t.Errorf("Verify(%s) = %v, want %v", c.with, err, c.want)
			}
		}
	})
}

func TestTwinOfARevokedTokenIsRevokedToo(t *testing.T) {
	v, _ := verifier(t, ES256)
	bearer := mint(t, v.keys, nil)
	other := twin(t, bearer)
	if _, err := v.Verify(t.Context(), other); err != nil {
		t.Fatalf("Verify(r, n-s) = %v, want no error: the promise is about revocation", err)
	}
	stop := driver.Revocation{Kind: driver.RevokeJTI, ID: genuine().ID, Until: time.Now().Add(week)}
	if err := v.revoked.Revoke(t.Context(), stop); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, token := range []string{bearer, other} {
			if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrInvalid) {
				t.Errorf("Verify(revoked) = %v, want ErrInvalid", err)
			}
		}
		v.cache = newCache(0)
	}
}

// twin returns the other signature (r, n-s) that ECDSA gives a message.
func twin(t *testing.T, token string) string {
	t.Helper()
	i := strings.LastIndexByte(token, '.')
	raw := decode(t, token[i+1:])
	n, _ := new(big.Int).SetString("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16)
	n.Sub(n, new(big.Int).SetBytes(raw[32:])).FillBytes(raw[32:])
	return sealed([]byte(token[:i]), raw)
}

// resign mints a token in whose claims a text was replaced.
func resign(t testing.TB, keys *Keys, old, new string) string {
	t.Helper()
	claims := string(genuine().append(nil))
	if !strings.Contains(claims, old) {
		t.Fatalf("no %s in %s", old, claims)
	}
	token, err := keys.Sign("", TypeAccess, []byte(strings.Replace(claims, old, new, 1)))
	if err != nil {
		t.Fatalf("Sign() = %v, want no error", err)
	}
	return token
}

func TestIssuedTokenIsKnownWhateverItIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := verifier(t, ES256)
		bearer := mint(t, v.keys, func(c *Claims) { c.Audience = "https://elsewhere.example" })
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrInvalid) {
			t.Fatalf("Verify(token for another) = %v, want ErrInvalid", err)
		}
		caller, err := v.Issued(bearer)
		if err != nil || caller.TokenID == "" {
			t.Errorf("Issued() = %+v, %v, want the caller", caller, err)
		}
		for _, other := range []string{"", "x", bearer + "A", bearer[:len(bearer)-2]} {
			if _, err := v.Issued(other); !errors.Is(err, ErrInvalid) {
				t.Errorf("Issued(%.10q) = %v, want ErrInvalid", other, err)
			}
		}
		time.Sleep(200 * time.Hour)
		if _, err := v.Issued(bearer); !errors.Is(err, ErrInvalid) {
			t.Errorf("Issued(expired) = %v, want ErrInvalid", err)
		}
	})
}
