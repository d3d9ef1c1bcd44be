package service

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Setting is a switch that is stored and changed while the service runs.
type Setting struct {
	Name      string    `json:"name"`
	Value     string    `json:"value"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`
	carried
}

// Names of settings, and their values.
const (
	// SettingForcePKCE is "1" where PKCE is mandatory (protocol 3.3).
	SettingForcePKCE = "service_config.oauth_force_pkce"

	// SettingDefaultAccess decides who may use the tools of a capability without an access
	// list: AccessEveryone, AccessOwner, or AccessAuto (the same as none): everyone as long as nobody
	// becomes a user without an operator, or ever could, whichever way they come in (decision 89).
	SettingDefaultAccess = "mcp.default_access"

	AccessAuto     = "auto"
	AccessEveryone = access.DefaultEveryone
	AccessOwner    = access.DefaultOwner // the owner of the capability, and administrators
)

// SettingKind is the kind of the documents of settings.
const SettingKind = "setting"

var settings = document.Kind[Setting]{
	Name:    SettingKind,
	ID:      func(s Setting) string { return s.Name },
	Index:   func(s Setting) []string { return []string{"all"} },
	Version: func(s *Setting) *int64 { return &s.Version },
}

// Setting returns the stored value, "" if there is none.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	v, err := document.Find(ctx, s.docs, settings, name)
	return v.Value, err
}

// Set stores a value; the last of several writers wins.
func (s *Store) Set(ctx context.Context, name, value string) error {
	if name == SettingDefaultAccess {
		if err := document.RequireFeature(ctx, s.docs, document.DefaultAccess); err != nil {
			return err
		}
	}
	_, err := document.Update(ctx, s.docs, settings, name, func(v *Setting) bool {
		v.Name, v.Value, v.UpdatedAt = name, value, time.Now().UTC()
		return true
	})
	return err
}

// Settings returns all stored settings.
func (s *Store) Settings(ctx context.Context) ([]Setting, error) {
	return document.All(ctx, s.docs, settings, driver.Is("all"))
}

// SetNew stores the value of a setting that is not there; else it returns ErrExists.
func (s *Store) SetNew(ctx context.Context, name, value string) error {
	d, err := NewSetting(s.docs, name, value)
	if err == nil {
		_, err = document.Write(ctx, s.docs, d)
	}
	return err
}

// NewSetting returns the document of a setting that is not there.
func NewSetting(docs *document.Store, name, value string) (driver.Doc, error) {
	return settings.Doc(docs, Setting{Name: name, Value: value, UpdatedAt: time.Now().UTC()})
}
