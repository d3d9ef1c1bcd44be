package lockout // import "github.com/keystile/keystile/oauth/signin/lockout"

import "context"
import "net/netip"
import "time"

type Accounts interface {
	Begin(ctx context.Context, account [32]byte) (wait time.Duration)
	Clear(ctx context.Context, account [32]byte) bool
	End(ctx context.Context, account [32]byte, failed bool)
	FailKnown(ctx context.Context, account [32]byte)
	Wait(ctx context.Context, account [32]byte) (wait time.Duration, known bool)
}

type Addresses interface {
	Begin(ctx context.Context, ip netip.Addr) (wait time.Duration)
	Clear(ctx context.Context, ip netip.Addr) bool
	End(ctx context.Context, ip netip.Addr, failed bool)
}

func Alone(c Config) Addresses

type Config struct {
	Failures int
	Within   time.Duration
	For      time.Duration
}

type Counter interface {
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
	Wait(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

const DelayAfter = 10

const DelayMost time.Duration = 60000000000

const DelayWithin time.Duration = 300000000000

type Delays struct{ _ []struct{} }

func (*Delays) Begin(_ context.Context, key [32]byte) (wait time.Duration)
func (*Delays) Clear(_ context.Context, key [32]byte) bool
func (*Delays) End(_ context.Context, key [32]byte, failed bool)
func (*Delays) FailKnown(_ context.Context, key [32]byte)
func (*Delays) Wait(_ context.Context, key [32]byte) (wait time.Duration, known bool)

type Guard struct{ _ []struct{} }

func (*Guard) Begin(ip netip.Addr) (wait time.Duration)
func (*Guard) Clear(ip netip.Addr) bool
func (*Guard) End(ip netip.Addr, failed bool)

func New(l Config) *Guard

func NewCounter() Counter

func NewDelays() *Delays
