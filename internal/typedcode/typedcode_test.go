package typedcode

import (
	"strings"
	"testing"
	"unicode"
)

func TestCodeIsReadAsItIsMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"123456": "123456", " 123 456\n": "123456", "123-456": "123456", "１２３　４５６": "123456",
		"123\u00a0456": "123456", "123\u202f456": "123456", "123\u2009456": "123456", // blanks that mail programs put
		"\u200b123456\ufeff": "123456", "\u202a123456\u202c": "123456", "12\u00ad3456": "123456", // what nobody sees
		"123–456": "123456", "123—456": "123456", "123−456": "123456", "123‑456": "123456", "123－456": "123456",
		"123ー456": "123456", "١٢٣٤٥٦": "123456", "۱۲۳۴۵۶": "123456", "१२३४५६": "123456", "𝟏𝟐𝟑𝟒𝟓𝟔": "123456",
		"abcd-efgh": "ABCDEFGH", "ＡＢｃｄ－ｅｆｇｈ": "ABCDEFGH", "wıİi": "WIII",
		"12345O": "12345O", "12.34.56": "12.34.56", "": "", " -": "", "٤²": "4²", "12\x003": "12\x003",
	} {
		if got := Read(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}

func TestTypedCodeMustHaveSixDigits(t *testing.T) {
	for typed, want := range map[string]string{
		"１２３ ４５６": "123456", "12345": "", "1234567": "", "12345a": "", "12345é": "", "１２３４５²": "", strings.Repeat(" ", 123) +
			"123456": "",
	} {
		if got := Digits(typed, 6); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

// The mapping of digits relies on it.
func TestRangeOfDigitsHoldsWholeSetsOfTen(t *testing.T) {
	for _, of := range unicode.Nd.R16 {
		if (of.Hi-of.Lo+1)%10 != 0 || of.Stride != 1 {
			t.Errorf("%x to %x by %d", of.Lo, of.Hi, of.Stride)
		}
	}
	for _, of := range unicode.Nd.R32 {
		if (of.Hi-of.Lo+1)%10 != 0 || of.Stride != 1 {
			t.Errorf("%x to %x by %d", of.Lo, of.Hi, of.Stride)
		}
	}
}
