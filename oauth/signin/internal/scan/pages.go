package scan

import (
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/qr"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// What the page of a code says above it, or in its place.
const (
	waitingText   = "You have not confirmed on your phone yet. Scan the code, confirm there, then continue here."
	numberText    = "You have not confirmed on your phone yet. It shows the number %s. Confirm there only if it is the same, then continue here."
	endedText     = "This code has been used or is too old. Get a new one."
	rejectedText  = "The sign-in was rejected on the phone."
	withdrawnText = "Whoever confirmed this sign-in has signed out on the phone since, or may not sign in any more. Get a new code and try again."
)

//go:embed qr.html scan.html answered.html
var files embed.FS

var (
	codePage     = web.Parse(files, "qr")
	scanPage     = web.Parse(files, "scan")
	answeredPage = web.Parse(files, "answered")
)

// codeView holds what the page of a code shows.
type codeView struct {
	web.View
	ID          string        // of the scan, which is in the code as well
	Code        template.HTML // "": there is nothing to scan any more
	Poll, Again string
}

// renderCode shows a code, and waits.
func (s *Scans) renderCode(w http.ResponseWriter, r *http.Request, status int, id string, t storage.Ticket, alert string) error {
	c, err := s.Pages.Restore(r.Context(), r, t.Query)
	if err != nil {
		return err
	}
	code, err := qr.SVG(s.Base+web.ScanPath+id, c.Lang.T("A code to scan with the camera of your phone"))
	if err != nil {
		return err
	}
	if alert = c.Lang.T(alert); alert != "" && t.State == Scanned && t.Number != "" {
		alert = c.Lang.T(numberText, t.Number)
	}
	return writeCodePage(w, c, status, codeView{
		View: web.View{Alert: alert}, ID: id, Code: code, Poll: PollPath + "?" + url.Values{"id": {id}}.Encode(),
	})
}

// showEnded says why there is nothing to wait for, and offers a new code.
func (s *Scans) showEnded(w http.ResponseWriter, r *http.Request, status int, query, why string) error {
	c, err := s.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	return writeCodePage(w, c, status, codeView{View: web.View{Alert: c.Lang.T(why)}})
}

func writeCodePage(w http.ResponseWriter, c web.Context, status int, v codeView) error {
	v.Title, v.Live, v.Again = "Sign in with your phone", v.Code != "", web.Link{Path: web.QRPath}.Carrying(c.Query).Path
	return c.Show(w, status, codePage, &v)
}

// scanView holds what the phone's pages show.
type scanView struct {
	page.Lang
	Title, Text     string // in English
	Address, Agent  string // of the browser that asks
	App, Host       string // where it will be signed in to
	Name, Letter    string // who would be
	Username, Where string
	Number          string // that the other device shows too
}

// showConfirmation shows whoever has scanned a code what it asks of them. What is known of the
// other browser comes from what it and its network say of themselves.
func (s *Scans) showConfirmation(w http.ResponseWriter, r *http.Request, t storage.Ticket, user storage.User) error {
	asking, err := s.Pages.Restore(r.Context(), r, t.Query)
	if err != nil {
		return err
	}
	lang, name := page.LangOf(r, ""), cmp.Or(user.Nickname, user.Name, user.Username)
	v := scanView{
		Lang: lang, Address: lang.T("an unknown address"), Agent: web.AgentText(lang, t.Agent), App: asking.Brand.Name,
		Name: name, Letter: page.Brand{Name: name}.Letter(), Username: user.Username, Where: r.URL.Path, Number: t.Number,
	}
	if ip, err := netip.ParseAddr(t.IP); err == nil {
		v.Address = ip.Unmap().String()
	}
	_, v.Host, _ = strings.Cut(asking.Origin, "://")
	look := page.Look{Lang: lang, Title: lang.T("Sign in on another device?"), Brand: asking.Brand}
	return web.Write(w, http.StatusOK, look, scanPage, v)
}

// showAnswered says what became of it.
func (s *Scans) showAnswered(w http.ResponseWriter, r *http.Request, title, text string) error {
	lang := page.LangOf(r, "")
	look := page.Look{Lang: lang, Title: lang.T(title), Brand: page.BrandOf(storage.App{})}
	return web.Write(w, http.StatusOK, look, answeredPage, scanView{Lang: lang, Title: title, Text: text})
}
