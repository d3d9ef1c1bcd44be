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

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/wholefile"
	"github.com/keystile/keystile/storage"
)

// Record is the file: what the first run has made and where. It holds secrets.
type Record struct {
	BaseURL string `json:"base_url"`
	Admin   Admin  `json:"admin"`
	App     *App   `json:"app,omitempty"` // nil: none was made
}

// Admin is the administrator.
type Admin struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// App is the application.
type App struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret"`
	Domains      []string `json:"domains"`
	RedirectURI  string   `json:"redirect_uri,omitempty"`
}

// Draft returns what the application is made of.
func (a *App) Draft() storage.App {
	secret := storage.AppSecret{Secret: storage.NewSecret(a.ClientSecret), CreatedAt: time.Now().UTC()}
	return storage.App{ID: a.ClientID, Domains: a.Domains, Secrets: []storage.AppSecret{secret}}
}

// Read returns the Record of a file, or nil if there is none.
func Read(path string) (*Record, error) {
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

// Write writes the Record to a file that only the owner reads.
func (p *Record) Write(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(path, append(text, '\n'))
}

// Draw fills in what the Record does not have yet. An application that is nil is none.
func (p *Record) Draw(base string, a *Application) {
	p.BaseURL = base
	if p.Admin.Username == "" || p.Admin.Password == "" {
		p.Admin = Admin{Username: "admin", Password: drawPassword()}
	}
	switch {
	case a == nil:
		p.App = nil
		return
	case p.App == nil:
		p.App = &App{ClientID: handle.NewAppID(), ClientSecret: storage.DrawSecret().Reveal()}
	}
	p.App.Domains, p.App.RedirectURI = a.Domains, a.RedirectURI
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
