package token

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/hex"
	"strings"
	"testing"
)

// The signatures are those of RFC 6979 A.2.5, for SHA-256.
func TestECDSASignaturesAreDrawnAsRFC6979Says(t *testing.T) {
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), unhex(t,
		"C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"))
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"sample": "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
		"test":   "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
	} {
		got, err := (&key{private: private}).signature([]byte(message))
		if err != nil || !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("%q is signed %x, %v, want %s", message, got, err, want)
		}
	}
}

func TestSignatureInASN1BecomesTwoNumbers(t *testing.T) {
	long, zero := "022100"+strings.Repeat("ff", 32), strings.Repeat("00", 31)
	for der, want := range map[string]string{
		"3006" + "020101" + "020102":                            zero + "01" + zero + "02",
		"3026" + long + "020102":                                strings.Repeat("ff", 32) + zero + "02",
		"3026" + "022101" + strings.Repeat("ff", 32) + "020102": "", // 33 bytes
		"3003" + "020101":                                       "",
		"3009" + "020101" + "020102" + "020103":                 "",
		"3006" + "020101" + "020202":                            "", // cut off
		"3007" + "020101" + "020102":                            "",
		"":                                                      "",
	} {
		got, err := flat(unhex(t, der))
		if hex.EncodeToString(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s becomes %x, %v, want %q", der, got, err, want)
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
