package charset

import (
	"errors"
	"testing"
	"unicode/utf8"
)

func TestCharsetsAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]string{"GBK": "你", " gb2312 ": "你", "cp936": "你", "iso-8859-1": "Äã",
		"US-ASCII": "Äã", "IBM850": "─Ò", "latin5": "Äã"} {
		got, err := Named(name).Decode([]byte("\xc4\xe3"), 10)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if got, err := Named("hz-gb-2312").Decode([]byte("~{<:Ky~}!"), 20); err != nil || string(got) != "己所!" {
		t.Errorf("HZ: %q, %v", got, err) // which the web does not name any more
	}
	for _, name := range []string{"", "klingon", "replacement", "iso-2022-kr", "utf-7", "x\x00"} {
		if c := Named(name); c != (Charset{}) {
			t.Errorf("%q is known as %v", name, c)
		}
	}
	if Named("utf8") != UTF8 || Named("latin1") != Windows1252 {
		t.Error("UTF8 and Windows1252 are not found by name")
	}
}

func TestTextIsAsLongAsItMayBe(t *testing.T) {
	text := []byte("\xc4\xe3\xba\xc3") // 6 bytes as UTF-8
	for most, ok := range map[int64]bool{0: false, 1: false, 5: false, 6: true, 7: true, 1 << 20: true} {
		got, err := Named("gbk").Decode(text, most)
		if (err == nil) != ok || ok && string(got) != "你好" || !ok && !errors.Is(err, ErrTooLong) {
			t.Errorf("of at most %d bytes: %q, %v", most, got, err)
		}
	}
}

// An upstream may send anything under any name: the result is UTF-8 and has a bound.
func FuzzDecode(f *testing.F) {
	names := []string{"gbk", "gb18030", "hz-gb-2312", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr",
		"windows-1252", "utf-16", "utf-16be", "utf-8", "klingon", "x-user-defined", "IBM037"}
	for i := range names {
		f.Add(byte(i), []byte("a\xff\xfe\xc4\xe3\x1b$B0!~{<:~}\x81\x30\x81\x30"), int64(20))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte, most int64) {
		most &= 1<<20 - 1
		got, err := Named(names[int(which)%len(names)]).Decode(text, most)
		if err != nil && !errors.Is(err, ErrTooLong) || int64(len(got)) > most || !utf8.Valid(got) {
			t.Errorf("Decode() = %q, %v, want at most %d bytes of UTF-8", got, err, most)
		}
	})
}
