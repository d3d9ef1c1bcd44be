package oidc // import "github.com/keystile/keystile/oauth/signin/connector/oidc"

import "context"
import "github.com/keystile/keystile/oauth/signin/connector"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/groups"
import "net/http"

type Config struct {
	Name         string
	Label        string
	Issuer       string
	ClientID     string
	ClientSecret storage.Secret
	Scopes       []string
	Domains      []string
	TrustEmail   bool
	GroupsClaim  string
	GroupsMap    map[string]string
	Mapped       func(ctx context.Context, connector string) (groups.Mapping, error)
	AllowPrivate []string
	Client       *http.Client
}

func Entra(tenant string) string

const Google = "https://accounts.google.com"

func New(c Config) (connector.Connector, error)
