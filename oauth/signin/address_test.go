package signin

import (
	"strings"
	"testing"
)

func FuzzTypedCode(f *testing.F) {
	for _, seed := range []string{"123456", "１２３ ４５６", "12-34-56", "", "1234567"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code := typedCode(text)
		if code != "" && (len(code) != codeDigits || strings.Trim(code, "0123456789") != "" || typedCode(code) != code) {
			t.Errorf("typedCode(%q) = %q", text, code)
		}
	})
}
