package apps

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/keystile/keystile/storage/client"
)

// snippet is code that signs users in to an application with a library, and verifies who they are.
type snippet struct {
	Title string `json:"title"`
	Code  string `json:"code"`
}

// placeholder stands where the secret belongs.
const placeholder = "YOUR_CLIENT_SECRET"

// subject holds what the code says of an application.
type subject struct {
	Base, ID, Back string
	Secret         string
	Alg            string // that its id_tokens are signed with
	Public         bool   // it has no secret
	HTTP           bool   // the service has no TLS, which some libraries refuse unless they are told
}

// HS256 reports whether the key of the id_tokens is the secret.
func (s subject) HS256() bool { return s.Alg == "HS256" }

// quoted returns the texts as literals of a language.
func (s subject) quoted(quote func(string) string) subject {
	for _, text := range []*string{&s.Base, &s.ID, &s.Back, &s.Secret} {
		*text = quote(*text)
	}
	return s
}

// snippets returns code for several libraries.
func (s *Apps) snippets(a appRecord) []snippet {
	back := "https://app.example.com/callback"
	switch {
	case len(a.RedirectURIs) > 0:
		back = a.RedirectURIs[0]
	case len(a.Domains) > 0:
		back = (&url.URL{Scheme: "https", Host: a.Domains[0], Path: "/callback"}).String()
		if local := "http" + strings.TrimPrefix(back, "https"); client.IsLoopback(local) {
			back = local
		}
	}
	return snippetsOf(subject{Base: s.c.BaseURL, ID: a.ClientID, Back: back, Secret: a.ClientSecret, Alg: a.IDTokenAlg,
		Public: a.Public})
}

// languages has what each snippet is called, its template, and how its language writes a text.
var languages = []struct {
	title, file string
	quote       func(string) string
}{
	{"curl", "curl", shell},
	{"Go: golang.org/x/oauth2, go-oidc", "go", strconv.QuoteToASCII},
	{"Node: openid-client", "node", literal(`\u{%x}`)},
	{"Python: Authlib", "python", literal(`\U%08x`)},
	{"Java: Spring Boot, application.yml", "spring", literal(`\U%08x`)},
	{"PHP: league/oauth2-client", "php", php},
}

//go:embed snippets
var snippetFiles embed.FS

var snippetTexts = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(snippetFiles, "snippets/*.tmpl"))
})

// snippetsOf writes the code, with the secret where it is shown this once. No value can end the literal that it stands
// in.
func snippetsOf(of subject) (all []snippet) {
	of.Secret, of.HTTP = cmp.Or(of.Secret, placeholder), strings.HasPrefix(of.Base, "http:")
	for _, l := range languages {
		var out bytes.Buffer
		if err := snippetTexts().ExecuteTemplate(&out, l.file+".tmpl", of.quoted(l.quote)); err != nil {
			panic(err) // the templates are part of the program, and take any text
		}
		all = append(all, snippet{l.title, out.String()})
	}
	return all
}

func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func php(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// literal returns a function that writes a text between double quotes, all but plain characters
// as escapes of a language.
func literal(escape string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		out.WriteByte('"')
		for _, c := range text {
			if c <= '~' && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+
				"-._~:/?#[]@!&()*+,;=%", c) {
				out.WriteRune(c)
			} else {
				fmt.Fprintf(&out, escape, c)
			}
		}
		return out.String() + `"`
	}
}
