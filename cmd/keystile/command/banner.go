package command

import (
	"io"
	"os"
	"text/template"

	"github.com/keystile/keystile/cmd/keystile/internal/firstrun"
)

// banner holds what a start prints on the standard output. It shows secrets on a terminal only:
// elsewhere it goes to journals, which others read and which are kept.
type banner struct {
	Base, Address string
	Operators     string // the address of the admin listener, "" if there is none
	Folder, Kept  string
	Demo, DemoOff bool             // DemoOff: it is off because nobody asked for it, so say how
	Terminal      bool             // a person reads this, and nothing keeps it
	FirstRun      *firstrun.Record // nil: not the first run
	By            string           // the node whose first run it was, of a node that has just come
}

// There reports whether first-run.json is still there.
func (b banner) There() bool {
	_, err := os.Stat(b.Kept)
	return err == nil
}

const bannerText = `
Keystile is running at {{.Base}}
{{if .Demo}}
  Try the sign-in   {{.Base}}/demo{{end}}{{if .DemoOff}}
  The demo          is off, for other machines reach this address; --demo switches it on{{end}}
  The console       {{.Base}}/console/
  Discovery         {{.Base}}/.well-known/openid-configuration
  Tools by MCP      {{.Base}}/api/mcp
  All endpoints     {{.Base}}/openapi.json
  Listening on      {{.Address}}
{{with .Operators}}  Admin listener    {{.}}
{{end}}  Data folder       {{.Folder}}
{{with .FirstRun}}
This was the first run. It made an administrator{{with .App}} and an application{{end}}{{if not $.Terminal}}.
Nobody knows who reads this output, so their passwords are not in it. They are in
{{$.Kept}}, which only you can read. Delete it when
you have them in a safe place.
{{else}}:

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
{{end}}{{end}}{{else}}{{if .By}}  First run         was at node {{.By}}, whose data folder has first-run.json
{{else if .There}}  First run         {{.Kept}}
{{end}}{{end}}
Ctrl-C stops it.
`

// writeBanner is best effort: a service does not end because nobody reads what it says.
func writeBanner(w io.Writer, b banner) {
	template.Must(template.New("banner").Parse(bannerText)).Execute(w, b)
}
