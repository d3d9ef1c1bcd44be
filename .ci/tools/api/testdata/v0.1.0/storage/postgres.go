package postgres // import "github.com/keystile/keystile/storage/postgres"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/transfer"
import "log/slog"
import "time"

func Check(ctx context.Context, dsn string, o Options, nodes int) []Finding

type Finding struct {
	Name  string
	State State
	Says  string
	Do    string
}

func Migrate(ctx context.Context, dsn string, o Options) (taken []Step, err error)

const Note State = "note"

func Open(ctx context.Context, address string, o Options) (*Store, error)

func OpenReadOnly(ctx context.Context, address string, o Options) (*Store, error)

type Options struct {
	Schema       string
	NeverMigrate bool
	ListenDSN    string
	PollOnly     bool
	Conns        int
	Timeout      time.Duration
	Observe      func(ctx context.Context, statement string, took time.Duration, err error)
	Log          *slog.Logger
}

func ParseURL(address string, o Options) (dsn string, _ Options, err error)

const Safe State = "safe"

func Script(schema string, done int) string

type State string

type Stats struct {
	Conns  int
	InUse  int
	Max    int
	Waits  int64
	Waited time.Duration
}

func Status(ctx context.Context, dsn string, o Options) ([]Step, error)

type Step struct {
	Number int
	Name   string
	At     time.Time
	SQL    string
}

type Store struct{ _ []struct{} }

func (*Store) Append(ctx context.Context, records ...driver.Record) error
func (*Store) Appended(ctx context.Context) (last uint64, err error)
func (*Store) ClockAhead(ctx context.Context) (ahead time.Duration, err error)
func (*Store) Close() error
func (*Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
func (*Store) Describe() (kind string, version string, at string)
func (*Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
func (*Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error)
func (*Store) Get(ctx context.Context, kind string, id string) (d driver.Doc, err error)
func (*Store) Issue(ctx context.Context, tokens ...driver.Token) error
func (*Store) List(ctx context.Context, kind string, span driver.Span, n int) (docs []driver.Doc, next string, err error)
func (*Store) Listen(ctx context.Context, hint func()) error
func (*Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error
func (*Store) Now(ctx context.Context) (at time.Time, err error)
func (*Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
func (*Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error)
func (*Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error)
func (*Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
func (*Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
func (*Store) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error)
func (*Store) Stats() Stats
func (*Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error)
func (*Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error)
func (*Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
func (*Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)

const Unknown State = "unknown"

const Unsafe State = "unsafe"
