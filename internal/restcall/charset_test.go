package restcall

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/keystile/keystile/storage"
)

// inCharset returns a text in a charset.
func inCharset(t testing.TB, charset, text string) string {
	t.Helper()
	enc, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	out, err := enc.NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%q in %s: %v", text, charset, err)
	}
	return out
}

// says answers with a body and a Content-Type, which may be empty.
func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		io.WriteString(w, body)
	}
}

func TestTextInAnyCharsetBecomesUTF8(t *testing.T) {
	for charset, text := range map[string]string{
		"gbk": "你好，世界", "gb2312": "简体中文", "GB18030": "繁體中文 €", "big5": "繁體中文", "Shift_JIS": "日本語のテキスト", "euc-jp": "日本語",
		"iso-2022-jp": "日本語",
		"euc-kr":      "안녕하세요", "ks_c_5601-1987": "한국어", "iso-8859-1": "größe café", "iso-8859-2": "łódź",
		"iso-8859-15":  "10 €",
		"windows-1252": "“naïve” – €",
		"windows-1250": "žluťoučký", "windows-1251": "Привет", "windows-1256": "مرحبا", "koi8-r": "Привет",
		"tis-620": "สวัสดี", "utf-16le": "a你", "utf-16be": "a你",
	} {
		body := inCharset(t, charset, text)
		for _, contentType := range []string{"text/plain; charset=" + charset, `text/html;charset="` + strings.ToUpper(charset) + `"`, "application/xml; charset=" + charset} {
			r := called(t, Config{}, says(contentType, body))
			if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" || texts(r) != text ||
				r.Bytes != int64(len(body)) {
				t.Errorf("%s: %+v, want %q", contentType, r, text)
			}
		}
		r := called(t, Config{}, answers(422, body, "Content-Type", "text/plain; charset="+charset))
		if !r.IsError || texts(r) != "HTTP 422 Unprocessable Entity\n"+text {
			t.Errorf("a refusal in %s is %q", charset, texts(r))
		}
	}
}

func TestTextSaysItsCharsetItself(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body, text string }{
		"a mark of UTF-16LE":            {"text/plain; charset=utf-16", "\xff\xfea\x00\x60\x4f", "a你"},
		"a mark of UTF-16BE":            {"text/plain; charset=utf-16", "\xfe\xff\x00a\x4f\x60", "a你"},
		"a mark alone":                  {"text/plain", "\xfe\xff\x00a\x4f\x60", "a你"},
		"a mark against its charset":    {"text/plain; charset=utf-8", "\xff\xfea\x00", "a"},
		"a mark of UTF-8":               {"text/csv", "\xef\xbb\xbfä,b", "ä,b"},
		"a mark of UTF-8 in windows":    {"text/csv; charset=windows-1252", "\xef\xbb\xbfä,b", "ä,b"},
		"XML":                           {"application/xml", `<?xml version="1.0" encoding="GBK"?><a>` + inCharset(t, "gbk", "你好") + `</a>`, `<?xml version="1.0" encoding="GBK"?><a>你好</a>`},
		"XML of its own kind":           {"application/rss+xml", ` <?xml version='1.0' encoding='windows-1251' ?><a>` + inCharset(t, "windows-1251", "Привет") + `</a>`, ` <?xml version='1.0' encoding='windows-1251' ?><a>Привет</a>`},
		"HTML":                          {"text/html", `<html><meta charset=big5>` + inCharset(t, "big5", "繁體"), `<html><meta charset=big5>繁體`},
		"HTML as it was":                {"text/html", `<META http-equiv="Content-Type" content="text/html; charset=gb2312">` + inCharset(t, "gbk", "你好"), `<META http-equiv="Content-Type" content="text/html; charset=gb2312">你好`},
		"HTML that was converted":       {"text/html", `<meta charset=big5>你好`, `<meta charset=big5>你好`},
		"a header against its HTML":     {"text/html; charset=gbk", `<meta charset=big5>` + inCharset(t, "gbk", "你好"), `<meta charset=big5>你好`},
		"UTF-8 under a server's latin1": {"text/plain; charset=ISO-8859-1", "größe", "größe"},
	} {
		if r := called(t, Config{}, says(c.contentType, c.body)); r.IsError || texts(r) != c.text {
			t.Errorf("%s: %+v, want %q", name, r, c.text)
		}
	}
}

// RFC 8259 8.1: JSON is UTF-8, and a charset says nothing about it. Some servers mean it.
func TestJSONIsUTF8UnlessItIsNot(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body, text, structured string }{
		"a charset that is wrong":   {"application/json; charset=gbk", `{"a":"你好"}`, `{"a":"你好"}`, `{"a":"你好"}`},
		"a charset that is right":   {"application/json; charset=GBK", inCharset(t, "gbk", `{"a":"你好"}`), `{"a":"你好"}`, `{"a":"你好"}`},
		"UTF-16 that is declared":   {"application/json; charset=utf-16le", inCharset(t, "utf-16le", `{"a":1}`), `{"a":1}`, `{"a":1}`},
		"UTF-16 with a mark":        {"application/problem+json", "\xff\xfe" + inCharset(t, "utf-16le", `["你"]`), `["你"]`, `["你"]`},
		"UTF-8 with a mark":         {"application/json", "\xef\xbb\xbf[1]", "[1]", "[1]"},
		"no charset, and no UTF-8":  {"application/json", "[\"\xff\"]", "[\"\ufffd\"]", ""},
		"a charset that is unknown": {"application/json; charset=klingon", "[\"\xff\"]", "[\"\ufffd\"]", ""},
		"GBK that is broken":        {"application/json; charset=gbk", "[\"\xc4\xe3\xff\"]", "[\"你\ufffd\"]", ""},
	} {
		r := called(t, Config{}, says(c.contentType, c.body))
		if r.IsError || string(r.Structured) != c.structured || texts(r) != c.text {
			t.Errorf("%s: %+v, %q, want %q", name, r, r.Structured, c.text)
		}
	}
}

func TestCharsetShowsWhatIsNoCharacter(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body, text string }{
		"UTF-8":                      {"text/plain; charset=utf-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		"GBK":                        {"text/plain; charset=gbk", "\xc4\xe3\xff!", "你\ufffd!"},
		"half of a UTF-16 character": {"text/plain; charset=utf-16le", "a\x00b", "a\ufffd"},
		"few bytes without charset":  {"text/plain", "a long enough text\xff", "a long enough text\ufffd"},
		"few bytes of a charset that is unknown": {"text/plain; charset=klingon", "a long enough text\xff",
			"a long enough text\ufffd"},
		"a charset that is unknown, of UTF-8": {"text/plain; charset=klingon", "größe", "größe"},
	} {
		if r := called(t, Config{}, says(c.contentType, c.body)); r.IsError || r.Structured != nil || texts(r) != c.text {
			t.Errorf("%s: %+v, want %q", name, r, c.text)
		}
	}
	for _, contentType := range []string{"text/plain", "text/plain; charset=klingon", "text/plain; charset=replacement"} {
		body := inCharset(t, "gbk", "你好，世界")
		if r := called(t, Config{}, says(contentType, body)); r.IsError || r.Content[0].Type != "resource" ||
			string(r.Content[0].Resource.Blob) != body {
			t.Errorf("%s: bytes of an unknown charset are %+v, want them as they are", contentType, r)
		}
		if r := called(t, Config{}, answers(500, body, "Content-Type", contentType)); !r.IsError ||
			texts(r) != "HTTP 500 Internal Server Error, with 10 bytes in a charset that it does not name, or that is not "+
				"known here" {
			t.Errorf("%s: a failure in an unknown charset is %q", contentType, texts(r))
		}
	}
}

func TestTextIsBoundedAsUTF8(t *testing.T) {
	// 3 bytes each
	for over, body := range map[bool]string{false: strings.Repeat("\xc4\xe3", 10), true: strings.Repeat("\xc4\xe3", 11)} {
		r := called(t, Config{MaxResponse: 30}, says("text/plain; charset=gbk", body))
		if r.IsError != over || over && !strings.Contains(texts(r), "more than 30 bytes") || !over &&
			texts(r) != strings.Repeat("你", 10) {
			t.Errorf("%d bytes of GBK: %+v", len(body), r)
		}
	}
	damaged := strings.Repeat("a", 29) + "\xff"
	if r := called(t, Config{MaxResponse: 31}, says("text/plain; charset=utf-8", damaged)); !r.IsError ||
		!strings.Contains(texts(r), "more than 31 bytes") {
		t.Errorf("U+FFFD is not counted: %+v", r)
	}
}

// The secret would not be found in UTF-16, nor where a charset has sequences that say nothing.
func TestSecretIsBlottedOutOfWhatACharsetShows(t *testing.T) {
	const secret = "sk-live-0123456789"
	for charset, body := range map[string]string{"utf-16le": inCharset(t, "utf-16le", "<"+secret+">"),
		"iso-2022-jp": "<sk-live-\x1b(B0123456789>", "gbk": "<" + secret + ">"} {
		u := serve(t, false, says("text/plain; charset="+charset, body))
		r, err := u.caller(t, Config{}).Call(t.Context(), Upstream{BaseURL: base, AuthType: "bearer",
			Secret: storage.NewSecret(secret)}, compile(t, get), nil)
		if err != nil || texts(r) != "<[secret]>" {
			t.Errorf("%s: %+v, %v", charset, r, err)
		}
	}
}
