package restcall

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// echoes list the ways in which an upstream may repeat a text.
var echoes = map[string]func(string) string{
	"as it is":                func(s string) string { return s },
	"percent":                 url.QueryEscape,
	"percent in small":        func(s string) string { return small(url.QueryEscape(s)) },
	"percent of a path":       url.PathEscape,
	"percent of all":          func(s string) string { return each(s, "%%%02X") },
	"percent of all in small": func(s string) string { return each(s, "%%%02x") },
	"percent twice":           func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"JSON":                    quotedJSON,
	"JSON with escaped slash": func(s string) string { return strings.ReplaceAll(quotedJSON(s), "/", `\/`) },
	"JSON in ASCII":           func(s string) string { return escapedJSON(s, `\u%04x`) },
	"JSON in capitals":        func(s string) string { return escapedJSON(s, `\u%04X`) },
	"JSON in JSON":            func(s string) string { return quotedJSON(escapedJSON(s, `\u%04x`)) },
	"HTML":                    html.EscapeString,
	"HTML by number":          func(s string) string { return each(s, "&#%d;") },
	"HTML by hex":             func(s string) string { return each(s, "&#x%X;") },
	"HTML with names":         strings.NewReplacer("&", "&amp;", "'", "&apos;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace,
	"read as Latin-1":         latin1,
	"read as Latin-1 in JSON": func(s string) string { return escapedJSON(latin1(s), `\u%04x`) },
	"base64":                  func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 in a URL":         func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64 unpadded":         func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 in a URL, bare":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 in JSON": func(s string) string {
		return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`)
	},
	"base64 in a query": func(s string) string {
		return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s)))
	},
	"base64 in small escapes": func(s string) string {
		return small(url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))))
	},
}

func each(s, format string) string {
	var out strings.Builder
	for _, b := range []byte(s) {
		if b >= 0x80 && strings.HasPrefix(format, "&") { // a character of HTML is not a byte
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, format, b)
		}
	}
	return out.String()
}

// small writes the digits of escapes in small letters.
func small(s string) string {
	out := []byte(s)
	for i := range out {
		if out[i] == '%' {
			copy(out[i:], bytes.ToLower(out[i:i+3]))
		}
	}
	return string(out)
}

func quotedJSON(s string) string {
	out, _ := json.Marshal(s)
	return string(out[1 : len(out)-1])
}

// escapedJSON escapes all but letters and digits.
func escapedJSON(s, format string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80 && (unreserved(byte(r))):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, format+format, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&out, format, r)
		}
	}
	return out.String()
}

func latin1(s string) string {
	var out []rune
	for _, b := range []byte(s) {
		out = append(out, rune(b))
	}
	return string(out)
}

var echoed = []string{"plain-secret-0123", "s3cr3t/+value& and=?~", `to"p<s>'ecr\et`, "gehéimnis-ñ-日本-🔑", "AKIA%2Bwith%41escapes", "back\\u002bslash&amp;", "aaaaaaaaaaaaaaaaaaaa", "12345678"}

// leaks reports whether enough of a secret is in a text to be used, however it is written.
func leaks(text, secret string) bool {
	for range 3 {
		if strings.Contains(text, secret) {
			return true
		}
		for i := range len(text) {
			for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				for end := i + 4; end <= len(text); end += 4 {
					plain, err := enc.DecodeString(text[i:end])
					if err != nil {
						break
					}
					if bytes.Contains(plain, []byte(secret[:len(secret)-1])) || bytes.Contains(plain, []byte(secret[1:])) {
						return true
					}
				}
			}
		}
		plain, err := url.QueryUnescape(text)
		if err != nil {
			break
		}
		text = html.UnescapeString(plain)
	}
	return false
}

func TestEchoOfTheCredentialIsBlottedHoweverItIsWritten(t *testing.T) {
	for _, secret := range echoed {
		for _, to := range []Upstream{
			{AuthType: "bearer", Secret: storage.NewSecret(secret)},
			{AuthType: "basic", Secret: storage.NewSecret("user:" + secret)},
			{AuthType: "api_key", AuthIn: "header", AuthName: "X-API-Key", Secret: storage.NewSecret(secret)},
			{AuthType: "api_key", AuthIn: "query", AuthName: "key", Secret: storage.NewSecret(secret)},
		} {
			c, err := to.Credential()
			if err != nil {
				t.Fatal(err)
			}
			for name, write := range echoes {
				texts := []string{secret, c.Text}
				if to.AuthType == "basic" {
					texts = append(texts, "user:"+secret, strings.TrimPrefix(c.Text, "Basic "))
				}
				for _, text := range texts {
					for before := range 4 { // base64 has three alignments
						in := "id=7 <" + write("abc"[:min(before, 3)]+text+"xy"[:before%3]) + "> end"
						got := string(c.Redact([]byte(in)))
						if !strings.Contains(got, "[secret]") || leaks(got, secret) || strings.Contains(got, write(text)) {
							t.Errorf("%s, %s: %q is passed on as %q", to.AuthType, name, in, got)
						}
						if !strings.HasPrefix(got, "id=7 <") || !strings.HasSuffix(got, "> end") {
							t.Errorf("%s, %s: of %q more than the secret is redacted: %q", to.AuthType, name, in, got)
						}
					}
				}
			}
		}
	}
}

// Not even the bits of a first or last letter stay.
func TestEchoRemovesBase64CharactersThatHoldTheSecret(t *testing.T) {
	for _, secret := range []string{"secret-12", "secret-123", "secret-1234"} {
		c, _ := Upstream{AuthType: "bearer", Secret: storage.NewSecret(secret)}.Credential()
		for before := range 6 {
			for after := range 6 {
				encoded := base64.StdEncoding.EncodeToString([]byte("bbbbbb"[:before] + secret + "aaaaaa"[:after]))
				first, end := before*8/6, ((before+len(secret))*8+5)/6
				want := encoded[:first] + "[secret]" + strings.TrimLeft(encoded[end:], "=")
				if got := string(c.Redact([]byte("\"" + encoded + "\""))); got != "\""+want+"\"" {
					t.Errorf("%d before and %d after %q: %s is passed on as %s, want %s", before, after, secret, encoded, got, want)
				}
			}
		}
	}
}

// A short secret would be found by chance, and show by what is missing.
func TestShortSecretBlotsNoText(t *testing.T) {
	text := "The pass is in the past: GET a b c, user and admin; YWRtaW4= %61dmin \\u0061dmin"
	for _, secret := range []string{"a", "is", "past", "admin", "user:in"} {
		c, err := Upstream{AuthType: "bearer", Secret: storage.NewSecret(secret)}.Credential()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Redact([]byte(text))); got != text {
			t.Errorf("with the secret %q the answer is %q", secret, got)
		}
		// As the whole header it can be told from a word.
		if got := string(c.Redact([]byte("Authorization: Bearer " + secret))); got != "Authorization: [secret]" {
			t.Errorf("with the secret %q its header is passed on as %q", secret, got)
		}
	}
	c, _ := Upstream{AuthType: "basic", Secret: storage.NewSecret("administrator:x")}.Credential()
	if got := string(c.Redact([]byte("administrator has x; administrator:x"))); got != "administrator has x; [secret]" {
		t.Errorf("with a short password the answer is %q", got)
	}
}

func TestBlottingLeavesJSONWhole(t *testing.T) {
	c, _ := Upstream{AuthType: "bearer", Secret: storage.NewSecret(`k/ey"with\escapes`)}.Credential()
	for name, write := range echoes {
		quoted, _ := json.Marshal(write(`k/ey"with\escapes`))
		got := c.Redact([]byte(`{"a":[` + string(quoted) + `,"b"],"c":"` + escapedJSON(`k/ey"with\escapes`, `\u%04x`) + `"}`))
		var v struct {
			A []string
			C string
		}
		if err := json.Unmarshal(got, &v); err != nil || len(v.A) != 2 || v.A[1] != "b" || v.C != "[secret]" ||
			!strings.Contains(v.A[0], "[secret]") {
			t.Errorf("%s: %s, %v, want JSON with the secret redacted", name, got, err)
		}
	}
}

func TestBlottingWithinAnEscapeLeavesJSONWhole(t *testing.T) {
	c, _ := Upstream{AuthType: "bearer", Secret: storage.NewSecret("name-of-a-line")}.Credential()
	if got := string(c.Redact([]byte(`{"a":"\name-of-a-line","b":"\\\\name-of-a-line"}`))); got != `{"a":"[secret]","b":"\\\\[secret]"}` {
		t.Errorf("redacted it is %s", got)
	}
}

func TestSecretIsInNoHeaderOrError(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	to := Upstream{BaseURL: base, AuthType: "bearer", Secret: storage.NewSecret(secret)}
	for name, answer := range map[string]http.HandlerFunc{
		"the type of an image":   answers(200, "\x89PNG", "Content-Type", "image/"+secret),
		"the type of bytes":      answers(200, "\x00", "Content-Type", "application/x-"+secret),
		"the host of a redirect": answers(302, "", "Location", "https://"+secret+".example.com/"),
		"an error in percent":    answers(500, "no such key: "+small(each(secret, "%%%02X"))),
		"an error in base64":     answers(401, "bad: "+base64.RawURLEncoding.EncodeToString([]byte("x"+secret))),
		"bytes": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			io.WriteString(w, "\x00\xff"+secret+"\xfe")
		},
	} {
		r, err := serve(t, false, answer).caller(t, Config{}).Call(t.Context(), to, compile(t, get), nil)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := json.Marshal(r)
		data := ""
		for _, c := range r.Content {
			if c.Resource != nil {
				data += string(c.Resource.Blob)
			}
			data += string(c.Data)
		}
		if text := string(whole) + data; strings.Contains(text, secret) || strings.Contains(text, "s3cr3t") {
			t.Errorf("%s: the result is %s %q", name, whole, data)
		}
	}
}
