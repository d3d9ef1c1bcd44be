package web

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/reply"
)

func TestRefusalDoesNotQuoteTheForm(t *testing.T) {
	if _, err := parseForm("username=mina&password=s3cr%et"); err == nil || strings.Contains(err.Error(), "%") {
		t.Errorf("parseForm() = %v, want a failure without the password", err)
	}
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"username=a&password=b&query=" + authorizeQuery, "username=%ff", "query=%0d%0a",
		"a=1;b=2", "%", "username=a&username=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		in, err := parseForm(body)
		if f := (*reply.Failure)(nil); errors.As(err, &f) && f.Status == http.StatusBadRequest {
			return
		}
		if err != nil || !utf8.ValidString(in.Username) || !utf8.ValidString(in.Password) || len(in.Query) > 3*MaxQuery {
			t.Fatalf("parseForm(%q) = %+v, %v, want text or a failure", body, in, err)
		}
	})
}
