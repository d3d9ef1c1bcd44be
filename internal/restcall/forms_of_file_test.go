package restcall

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

func TestFileIsTakenInEachFormThatClientsSend(t *testing.T) {
	const bytes = "\xfb\xff\xfe\x00"
	stream := one("post", "/", "application/octet-stream", `{}`, whole{})
	stream.Call.Body.File = true
	form := one("post", "/", "multipart/form-data", `{}`, toolplan.Field{Name: "f", File: true})
	for _, value := range []string{
		`"+//+AA=="`, `"+//+AA"`, `"-__-AA=="`, `"-__-AA"`, `"+//+\r\nAA==\n"`, `" +//+AA== "`,
		`"data:;base64,+//+AA=="`, `"DATA:application/octet-stream;base64,-__-AA"`,
		`"data:application/octet-stream,%FB%FF%FE%00"`,
		`{"data":"+//+AA=="}`, `{"data":"data:;base64,+//+AA=="}`, `{"data":"-__-AA","name":null,"type":null}`,
		`"{\"data\":\"+//+AA==\"}"`, `"{ \"data\": \"-__-AA\" }"`,
	} {
		r, err := build(t, stream, `{"x":`+value+`}`)
		if err != nil || string(r.body) != bytes || r.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: %+v, %v, want the bytes", value, r, err)
		}
		if r, err = build(t, form, `{"x":`+value+`}`); err != nil || !strings.Contains(string(r.body),
			"\r\n\r\n"+bytes+"\r\n--") {
			t.Errorf("%s in a form: %+v, %v, want the bytes", value, r, err)
		}
	}
	for _, value := range []string{`"+_AA"`, `"A"`, `"AP8=x"`, `"AA==="`, `"é"`, `"{\"data\":7}"`, `"{\"data\""`,
		`{"data":"!"}`, `{"blob":"AA=="}`} {
		if r, err := build(t, stream, `{"x":`+value+`}`); err == nil || !strings.Contains(err.Error(),
			`argument "x" must be base64`) {
			t.Errorf("%s: %+v, %v, want it refused", value, r, err)
		}
	}
	if r, err := build(t, form, `{"x":"[\"+//+AA==\",\"-__-AA\"]"}`); err != nil || strings.Count(string(r.body),
		bytes) != 2 {
		t.Errorf("a list in a text: %+v, %v, want both files", r, err)
	}
}
