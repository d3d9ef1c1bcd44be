package bolt // import "github.com/keystile/keystile/storage/bolt"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/transfer"
import "io"
import "time"

func Check(path string) (Contents, error)

func Compact(path string) (Compacted, error)

type Compacted struct {
	Before int64
	After  int64
}

type Contents map[string]int

var ErrInUse error

var ErrReadOnly error

const LogSuffix = ".wal"

func Open(path string, opts Options) (*Store, error)

func OpenReadOnly(path string, opts Options) (*Store, error)

type Options struct {
	Timeout  time.Duration
	TokenLog bool
	_        []struct{}
}

type Store struct{ _ []struct{} }

func (*Store) Append(ctx context.Context, records ...driver.Record) error
func (*Store) Appended(ctx context.Context) (last uint64, err error)
func (*Store) Close() error
func (*Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
func (*Store) DamagedReads() int64
func (*Store) Describe() (kind string, version string, at string)
func (*Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
func (*Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error)
func (*Store) Get(ctx context.Context, kind string, id string) (d driver.Doc, err error)
func (*Store) Issue(ctx context.Context, tokens ...driver.Token) error
func (*Store) List(ctx context.Context, kind string, span driver.Span, n int) (page []driver.Doc, next string, err error)
func (*Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error
func (*Store) Pick(ctx context.Context, seqs ...uint64) (picked []driver.Record, err error)
func (*Store) Prune(ctx context.Context, through uint64, n int) (int, error)
func (*Store) Put(ctx context.Context, docs ...driver.Doc) (int64, error)
func (*Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error)
func (*Store) Revocations(ctx context.Context, after uint64, n int) (page []driver.Revocation, err error)
func (*Store) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error)
func (*Store) Size() (bytes int64)
func (*Store) Summed()
func (*Store) Sweep(ctx context.Context, at time.Time, n int) (int, error)
func (*Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error)
func (*Store) Usage(ctx context.Context, q driver.UsageQuery) (rows []driver.Count, err error)
func (*Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) (rows []driver.Count, err error)
func (*Store) WriteTo(w io.Writer) (n int64, err error)

const Unsummed = "rows without a checksum"
