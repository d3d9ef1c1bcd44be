package otp

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/totp"
)

func TestTypedCodesAreNormalized(t *testing.T) {
	for text, want := range map[string]string{
		"123456": "123456", " 123 456 ": "123456", "123-456": "123456", "１２３４５６": "123456", "000000": "000000",
		"١٢٣٤٥٦": "123456",
		"":       "", "12345": "", "1234567": "", "12345a": "", "+12345": "", "123456\x00": "", "1.2345": "",
	} {
		if got := totp.Typed(text); got != want {
			t.Errorf("totp.Typed(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCodesAreDrawnFromAllThereAre(t *testing.T) {
	var seen [codeDigits][10]int
	const n = 20_000
	for range n {
		code := drawCode()
		if totp.Typed(code) != code {
			t.Fatalf("drawCode() = %q", code)
		}
		for i := range codeDigits {
			seen[i][code[i]-'0']++
		}
	}
	for i := range seen {
		for d, count := range seen[i] {
			if count < n/10-300 || count > n/10+300 { // 7 standard deviations
				t.Errorf("of %d codes %d have a %d at place %d", n, count, d, i+1)
			}
		}
	}
}
func FuzzTypedCode(f *testing.F) {
	for _, seed := range []string{"123456", "１２３ ４５６", "12-34-56", "", "1234567"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code := totp.Typed(text)
		if code != "" && (len(code) != codeDigits || strings.Trim(code, "0123456789") != "" || totp.Typed(code) != code) {
			t.Errorf("totp.Typed(%q) = %q", text, code)
		}
	})
}
