package oauth

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/quick"
)

// The order and the names of protocol 2.1 are those of the structure: what is written by hand may
// not differ from what encoding/json makes of it.
func TestTokenResponsesEncodeLikeTheirStruct(t *testing.T) {
	same := func(answer tokenResponse) bool {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(answer); err != nil {
			t.Fatal(err)
		}
		got := string(answer.AppendJSON(nil)) + "\n"
		if got != want.String() {
			t.Logf("it says   %s\nand wants %s", got, want.String())
		}
		return got == want.String()
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	if !same(tokenResponse{}) || !same(tokenResponse{Msg: "success", User: &userObject{Nickname: "<小明> \"&\\"}}) {
		t.Error("it differs")
	}
}
