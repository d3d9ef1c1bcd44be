package memory // import "github.com/keystile/keystile/storage/memory"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/transfer"
import "time"

func New() *Store

type Store struct{ _ []struct{} }

func (*Store) Append(ctx context.Context, records ...driver.Record) error
func (*Store) Appended(ctx context.Context) (last uint64, err error)
func (*Store) Close() error
func (*Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
func (*Store) Describe() (kind string, version string, at string)
func (*Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
func (*Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error)
func (*Store) Get(ctx context.Context, kind string, id string) (d driver.Doc, err error)
func (*Store) Issue(ctx context.Context, tokens ...driver.Token) error
func (*Store) List(ctx context.Context, kind string, span driver.Span, n int) (docs []driver.Doc, next string, err error)
func (*Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error
func (*Store) Pick(ctx context.Context, seqs ...uint64) (picked []driver.Record, err error)
func (*Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error)
func (*Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error)
func (*Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error)
func (*Store) Revocations(ctx context.Context, after uint64, n int) (feed []driver.Revocation, err error)
func (*Store) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) (page []transfer.Row, err error)
func (*Store) Summed()
func (*Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error)
func (*Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error)
func (*Store) Usage(ctx context.Context, q driver.UsageQuery) (rows []driver.Count, err error)
