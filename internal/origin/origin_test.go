package origin_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/origin"
)

func TestOriginIsASchemeAndAHostInLowerCase(t *testing.T) {
	for text, mend := range map[string]string{
		"https://id.example.com":         "",
		"http://127.0.0.1:8080":          "",
		"http://[::1]:8080":              "",
		"https://id.example.com:443":     "",
		"https://id.example.com/":        "write https://id.example.com,",
		"https://id.example.com/a":       "write https://id.example.com,",
		"https://id.example.com?x":       "write https://id.example.com,",
		"https://id.example.com#":        "write https://id.example.com,",
		"https://a@id.example.com":       "write https://id.example.com,",
		"https://ID.example.com":         "write https://id.example.com,",
		"HTTPS://id.example.com":         "write https://id.example.com,",
		"https://*.example.com":          "such as https://",
		"id.example.com":                 "such as https://",
		"id.example.com:80":              "such as https://",
		"https://":                       "such as https://",
		"https://:8080":                  "such as https://",
		"ftp://id.example.com":           "such as https://",
		"*":                              "such as https://",
		"null":                           "such as https://",
		"":                               "such as https://",
		"https://id.example.com:port":    "such as https://",
		"https://id.example.com\x00":     "such as https://",
		" https://id.example.com":        "such as https://",
		"https://id.exa mple.com":        "such as https://",
		"https://id.example.com\\.evil/": "such as https://",
	} {
		err := origin.Check("BaseURL", text)
		if mend == "" != (err == nil) || err != nil && (!strings.HasPrefix(err.Error(), "BaseURL: ") ||
			!strings.Contains(err.Error(), mend)) {
			t.Errorf("Check(%q) = %v, want %q", text, err, mend)
		}
	}
}

func TestOriginOfAPageIsWrittenAsBrowsersWriteIt(t *testing.T) {
	for text, mend := range map[string]string{
		"https://a.example":         "",
		"http://localhost:3000":     "",
		"https://a.example:80":      "",
		"http://a.example:443":      "",
		"https://xn--bcher-kva.com": "",
		"https://a.example/":        "write https://a.example,",
		"https://a.example:443":     "write https://a.example",
		"http://a.example:80":       "write http://a.example",
		"https://bücher.com":        "xn--",
	} {
		err := origin.CheckPage("CORS.Origins", text)
		if mend == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), mend) {
			t.Errorf("CheckPage(%q) = %v, want %q", text, err, mend)
		}
	}
}
