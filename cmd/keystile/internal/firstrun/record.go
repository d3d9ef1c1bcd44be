package firstrun

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// Record is first-run.json: what the first run has made and where. It holds secrets.
type Record struct {
	BaseURL string `json:"base_url"`
	Admin   Admin  `json:"admin"`
	App     *App   `json:"app,omitempty"` // nil: there is no demo
}

// Admin is the administrator.
type Admin struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// App is the demo's application.
type App struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret"`
	Domains      []string `json:"domains"`
	RedirectURI  string   `json:"redirect_uri"`
}

// draft returns what the application is made of.
func (a *App) draft() storage.App {
	secret := storage.AppSecret{Secret: storage.NewSecret(a.ClientSecret), CreatedAt: time.Now().UTC()}
	return storage.App{ID: a.ClientID, Secrets: []storage.AppSecret{secret}}
}

// read returns the Record, or nil if there is none.
func read(path string) (*Record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := new(Record)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; repair or remove it", path, err)
	}
	return p, nil
}

func (p *Record) write(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return folder.Write(path, append(text, '\n'))
}

// draw fills in what the Record does not have yet. Without the demo it has no application.
func (p *Record) draw(base string, withDemo bool) {
	p.BaseURL = base
	if p.Admin.Username == "" || p.Admin.Password == "" {
		p.Admin = Admin{Username: "admin", Password: drawPassword()}
	}
	switch {
	case !withDemo:
		p.App = nil
	case p.App == nil:
		p.App = &App{ClientID: handle.NewAppID(), ClientSecret: storage.DrawSecret().Reveal()}
	}
	if p.App != nil {
		p.App.Domains, p.App.RedirectURI = demo.Domains(base), demo.RedirectURI(base)
	}
}

// mark tells what was made from this Record from what was made from another one, and nothing about its secrets: the
// password alone has a hundred bits.
func (p *Record) mark() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "keystile first run\n%s\n%s\n", p.Admin.Username, p.Admin.Password)
	if p.App != nil {
		fmt.Fprintf(sum, "%s\n%s\n", p.App.ClientID, p.App.ClientSecret)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// letters are 32, without those that are taken for one another (i, l, o, u).
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

// drawPassword draws 100 bits in four groups that can be read out and typed.
func drawPassword() string {
	raw := make([]byte, 20)
	rand.Read(raw)
	var out []byte
	for i, b := range raw {
		if i > 0 && i%5 == 0 {
			out = append(out, '-')
		}
		out = append(out, letters[b%32])
	}
	return string(out)
}
