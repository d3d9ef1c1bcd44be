package main

import (
	"io"
	"os"
	"text/template"

	"github.com/keystile/keystile/cmd/keystile/internal/firstrun"
)

// banner is what a start says on the standard output.
type banner struct {
	Base, Address string
	Operators     string // the address of the admin listener, "" if there is none
	Folder, Kept  string
	Demo          bool
	Paper         *firstrun.Paper // nil: not the first run; then no secret is shown
}

// There reports whether first-run.json is still there.
func (b banner) There() bool {
	_, err := os.Stat(b.Kept)
	return err == nil
}

var bannerText = template.Must(template.New("banner").Parse(`
Keystile is running at {{.Base}}
{{if .Demo}}
  Try the sign-in   {{.Base}}/demo{{end}}
  Discovery         {{.Base}}/.well-known/openid-configuration
  Tools by MCP      {{.Base}}/api/mcp
  All endpoints     {{.Base}}/openapi.json
  Listening on      {{.Address}}
{{with .Operators}}  Admin listener    {{.}}
{{end}}  Data folder       {{.Folder}}
{{with .Paper}}
This was the first run. It made an administrator{{with .App}} and an application{{end}}:

  Username          {{.Admin.Username}}
  Password          {{.Admin.Password}}
{{with .App}}
  client_id         {{.ClientID}}
  client_secret     {{.ClientSecret}}
{{end}}
They are shown this once, and kept in
{{$.Kept}}, which only you can read. Delete it when
you have them in a safe place.
{{if .App}}
Try it:

  1. Open {{$.Base}}/demo and sign in with the username and password above.

  2. Ask for a token as the application:
     curl -s {{$.Base}}/oauth/token \
       -d grant_type=client_credentials \
       -d client_id={{.App.ClientID}} \
       -d client_secret={{.App.ClientSecret}}

  3. Ask who signed in, with the access token that the demo shows:
     curl -s {{$.Base}}/oauth/userinfo -H 'Authorization: Bearer ACCESS_TOKEN'

  4. See what the application may still call, with either token:
     curl -s {{$.Base}}/api/v1/quota -H 'Authorization: Bearer ACCESS_TOKEN'
{{end}}{{else}}{{if .There}}  First run         {{.Kept}}
{{end}}{{end}}
Ctrl-C stops it.
`))

// writeBanner is best effort: a service does not end because nobody reads what it says.
func writeBanner(w io.Writer, b banner) { bannerText.Execute(w, b) }
