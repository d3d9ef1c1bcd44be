package mcpcall

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/rawjson"
)

func TestContentIsPassedOnAsItWasWritten(t *testing.T) {
	for _, same := range []string{
		`{"type":"text","text":"a\u00e9\/ \ud83d\ude00"}`,
		`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}`,
		`{"type":"audio","data":"","mimeType":"audio/wav; codecs=1"}`,
		`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x"}}`,
		`{"type":"resource","resource":{"uri":"urn:x","blob":"AAAA"}}`,
		`{"type":"resource_link","uri":"https://example.com/a?b","name":"a","title":"A","description":"d","mimeType":"text/html","size":9007199254740993}`,
		`{"type":"text","text":"x","annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2026-01-01T00:00:00Z"}}`,
	} {
		if got := readBlock(raw(same)); string(got) != same {
			t.Errorf("readBlock(%s) = %s, want the same", same, got)
		}
	}
}

func TestContentIsRebuiltFromWhatIsKnown(t *testing.T) {
	malformed := func(kind string) string {
		return `{"type":"text","text":"[The tool gave content of the type \"` + kind + `\" that is malformed.]"}`
	}
	unknown := func(kind string) string {
		return `{"type":"text","text":"[The tool gave content of the type \"` + kind + `\", which cannot be shown.]"}`
	}
	for in, want := range map[string]string{
		` {"_meta":{"x":1}, "text" : "x" ,"type":"text","icons":[]}`: `{"type":"text","text":"x"}`,
		`{"type":"text"}`:                                                               malformed("text"),
		`{"type":"text","text":null}`:                                                   malformed("text"),
		`{"type":"text","text":7}`:                                                      malformed("text"),
		`{"type":"text","Text":"x"}`:                                                    malformed("text"),
		`{"type":"image","data":"%%%","mimeType":"image/png"}`:                          malformed("image"),
		`{"type":"image","data":"AAAA","mimeType":"text/html"}`:                         malformed("image"),
		`{"type":"image","data":"AAAA"}`:                                                malformed("image"),
		`{"type":"audio","data":"AAAA","mimeType":"image/png"}`:                         malformed("audio"),
		`{"type":"resource","resource":7}`:                                              malformed("resource"),
		`{"type":"resource","resource":{"uri":"nowhere","text":"x"}}`:                   malformed("resource"),
		`{"type":"resource","resource":{"uri":"urn:x"}}`:                                malformed("resource"),
		`{"type":"resource","resource":{"uri":"urn:x","blob":"?"}}`:                     malformed("resource"),
		`{"type":"resource","resource":{"uri":"urn:x","text":"x","mimeType":"x y"}}`:    `{"type":"resource","resource":{"uri":"urn:x","text":"x"}}`,
		`{"type":"resource_link","uri":"urn:x"}`:                                        malformed("resource_link"),
		`{"type":"resource_link","uri":"urn:x","name":"n","size":-1,"mimeType":"html"}`: `{"type":"resource_link","uri":"urn:x","name":"n"}`,
		`{"type":"video","data":"x"}`:                                                   unknown("video"),
		`{"type":"vi\u202e\u0007deo"}`:                                                  unknown("video"),
		`{"type":"` + strings.Repeat("v", 99) + `"}`:                                    unknown(strings.Repeat("v", 64)),
		`{"type":7}`:                            unknown(""),
		`7`:                                     unknown(""),
		`null`:                                  unknown(""),
		`{"type":"text","text":"x","text":"y"}`: unknown(""),
		`{"type":"text","text":"x","annotations":{"audience":["model"],"priority":2}}`:                             `{"type":"text","text":"x"}`,
		`{"type":"text","text":"x","annotations":{"audience":"user","priority":-1,"x":1}}`:                         `{"type":"text","text":"x"}`,
		`{"type":"text","text":"x","annotations":{"audience":["user","user","user"],"lastModified":"l"}}`:          `{"type":"text","text":"x","annotations":{"lastModified":"l"}}`,
		`{"type":"text","text":"x","annotations":{"audience":["user",7],"priority":"high","lastModified":"2026"}}`: `{"type":"text","text":"x","annotations":{"lastModified":"2026"}}`,
	} {
		if got := strings.ReplaceAll(string(readBlock(rawjson.Trim(raw(in)))), `\"`, `"`); got != strings.ReplaceAll(want, `\"`, `"`) {
			t.Errorf("readBlock(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestResultIsReadStrictly(t *testing.T) {
	many := `{"content":[` + strings.TrimSuffix(strings.Repeat(`{},`, 1001), ",") + `]}`
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, c := range []struct {
		name, result, want string
		isError            bool
		structured         string
	}{
		{"complete", `{"resultType":"complete","content":[{"type":"text","text":"x"}]}`, "x", false, ""},
		{"an error of the tool", `{"isError":true,"content":[{"type":"text","text":"no such pet"}]}`, "no such pet", true, ""},
		{"no error", `{"isError":false,"content":[{"type":"text","text":"x"}]}`, "x", false, ""},
		{"isError as a text", `{"isError":"true","content":[{"type":"text","text":"x"}]}`, "isError is no boolean", true, ""},
		{"input_required", `{"resultType":"input_required","content":[],"inputRequests":{}}`, "asks for more input", true, ""},
		{"another type", `{"resultType":"task","content":[]}`, "a kind that is not known", true, ""},
		{"a type that is null", `{"resultType":null,"content":[]}`, "a kind that is not known", true, ""},
		{"structured", `{"structuredContent":{"n":9007199254740993, "b":1,"a":1.0},"content":[{"type":"text","text":"x"}]}`, "x", false, `{"n":9007199254740993, "b":1,"a":1.0}`},
		{"structured alone", `{"structuredContent":[1e999]}`, "[1e999]", false, `[1e999]`},
		{"structured, and no blocks", `{"structuredContent":null,"content":[]}`, "null", false, `null`},
		{"structured, as deep as may be", `{"structuredContent":` + deep + `,"content":[]}`, deep, false, deep},
		{"structured and too deep", `{"structuredContent":[` + deep + `],"content":[]}`, "without content", false, ""},
		{"empty", `{"content":[]}`, "without content", false, ""},
		{"empty and an error", `{"content":[],"isError":true}`, "without content", true, ""},
		{"nothing", `{}`, "it has no content", true, ""},
		{"content that is an object", `{"content":{"type":"text","text":"x"}}`, "it has no content", true, ""},
		{"content that is null", `{"content":null}`, "it has no content", true, ""},
		{"content in capitals", `{"Content":[{"type":"text","text":"x"}]}`, "it has no content", true, ""},
		{"too many blocks", many, "more than 1000 blocks", true, ""},
	} {
		r := readResult(object(raw(c.result)))
		if r.IsError != c.isError || !strings.Contains(texts(r), c.want) || string(r.Structured) != c.structured ||
			len(r.Content) == 0 {
			t.Errorf("%s: %+v, says %q; want %q, error %t, structured %s", c.name, r, texts(r), c.want, c.isError, c.structured)
		}
	}
}
