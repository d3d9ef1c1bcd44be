package totp

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// RFC 6238 appendix B, of SHA-1, the last six of its eight digits.
func TestVectorsOfTheRFC(t *testing.T) {
	secret := encoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if step, right := Check(secret, code, time.Unix(at, 0), -1); !right || step != at/30 {
			t.Errorf("at %d: the code %s is %v, of step %d, want %d", at, code, right, step, at/30)
		}
	}
}

func TestCodeIsGoodOnceAndForAStepEitherWay(t *testing.T) {
	secret, at := Secret([]byte("abcdefghijklmnopqrstuvwxyz")), time.Unix(1_700_000_010, 0)
	key, _ := encoding.DecodeString(secret)
	now := at.Unix() / 30
	for step := now - 3; step <= now+3; step++ {
		got, right := Check(secret, codeAt(key, step), at, 0)
		if want := step >= now-1 && step <= now+1; right != want || right && got != step {
			t.Errorf("the code of step %+d is %v", step-now, right)
		}
	}
	for last, want := range map[int64]bool{now - 1: true, now: false, now + 1: false} {
		if _, right := Check(secret, codeAt(key, now), at, last); right != want {
			t.Errorf("after step %+d the code of now is %v, want %v", last-now, right, want)
		}
	}
	for _, code := range []string{"", "12345", "1234567", "abcdef"} {
		if _, right := Check(secret, code, at, 0); right {
			t.Errorf("%q is right", code)
		}
	}
	if _, right := Check("not base32!", "123456", at, 0); right {
		t.Error("a secret that cannot be read has right codes")
	}
}

func TestTypedTOTPCodesAreReadGenerously(t *testing.T) {
	for text, want := range map[string]string{
		"123456": "123456", "123 456": "123456", "１２３-456": "123456", " 1 2 3 4 5 6 ": "123456", "12345": "", "12345a": "",
		"1234567": "",
	} {
		if got := Typed(text); got != want {
			t.Errorf("Typed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAddressIsReadByApps(t *testing.T) {
	u, err := url.Parse(Address("id.example.com:8443", "mina ö", "JBSWY3DPEHPK3PXP"))
	// A blank is %20 in a Key URI.
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || strings.Contains(u.RawQuery, "+") {
		t.Fatal(u, err)
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), ":")
	if service != "id.example.com 8443" || name != "mina ö" || u.Query().Get("issuer") != service ||
		u.Query().Get("secret") != "JBSWY3DPEHPK3PXP" {
		t.Errorf("%s: %q, %q, %v", u, service, name, u.Query())
	}
}
