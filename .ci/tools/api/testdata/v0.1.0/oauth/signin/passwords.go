package passwords // import "github.com/keystile/keystile/oauth/signin/passwords"

import "context"
import "net/netip"

func Adopt(hash string) (stored string, err error)

func AsUnknownClient(ctx context.Context, ip netip.Addr) context.Context

func Check(password string, known ...string) error

type Cost struct {
	Memory uint32
	Passes uint32
}

var ErrBusy error

var ErrCost error

var ErrForm error

func Explain(err error) string

type Hasher struct{ _ []struct{} }

func (*Hasher) Hash(ctx context.Context, password string) (string, error)
func (*Hasher) Rehash(ctx context.Context, password string) (string, error)
func (*Hasher) Verify(ctx context.Context, hash string, password string) (ok bool, stale bool, err error)

func New(c Cost) *Hasher

func Normal(typed string) string
