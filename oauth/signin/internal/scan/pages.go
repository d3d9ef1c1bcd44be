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

// The texts above a code, or in its place.
const (
	waitingText = "You have not confirmed on your phone yet. Scan the code, confirm there, then continue here."
	numberText  = "You have not confirmed on your phone yet. It shows the number %s. Confirm there only if it is the " +
		"same, then continue here."
	endedText     = "This code has been used or is too old. Get a new one."
	rejectedText  = "The sign-in was rejected on the phone."
	withdrawnText = "Whoever confirmed this sign-in has signed out on the phone since, or may not sign in any more. Get " +
		"a new code and try again."
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

func (s *Scans) renderCode(w http.ResponseWriter, r *http.Request, status int, id string, t storage.Ticket,
	alert string) error {
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

// showEnded shows why a code is not valid any more, and offers a new one.
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
	Address, Agent  string // of the other browser
	App, Host       string // of the application it signs in to
	Name, Letter    string // of the user
	Username, Where string // Where: the path of the form
	Number          string // that the other device shows too
}

// showConfirmation shows the user who has scanned a code which device asks to be signed in. The
// data of that device are its own User-Agent and its address.
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

func (s *Scans) showAnswered(w http.ResponseWriter, r *http.Request, title, text string) error {
	lang := page.LangOf(r, "")
	look := page.Look{Lang: lang, Title: lang.T(title), Brand: page.BrandOf(storage.App{})}
	return web.Write(w, http.StatusOK, look, answeredPage, scanView{Lang: lang, Title: title, Text: text})
}
