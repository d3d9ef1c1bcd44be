package mailer // import "github.com/keystile/keystile/oauth/signin/mailer"

import "context"
import "crypto/x509"
import "github.com/keystile/keystile/storage"
import "time"

type Folder struct{ _ struct{} }

func (*Folder) Path() string
func (*Folder) Send(_ context.Context, to string, subject string, text string) error

const Implicit = "implicit"

func NewFolder(path string) *Folder

func NewSMTP(c SMTPConfig) (*SMTP, error)

const None = "none"

type SMTP struct{ _ []struct{} }

func (*SMTP) Clear() bool
func (*SMTP) Send(ctx context.Context, to string, subject string, text string) error

type SMTPConfig struct {
	Host     string
	Port     int
	TLS      string
	Username string
	Password storage.Secret
	From     string
	Timeout  time.Duration
	RootCAs  *x509.CertPool
}

const STARTTLS = "starttls"
