package transfer // import "github.com/keystile/keystile/storage/transfer"

import "context"
import "github.com/keystile/keystile/storage/driver"
import "time"

type Adapter interface {
	Load(ctx context.Context, table Table, rows []Row, gone [][]byte) error
	Rows(ctx context.Context, table Table, after []byte, n int) ([]Row, error)
}

const Audit Table = "audit"

func BatchKey(key []byte) (node string, err error)

func BatchRow(b driver.Batch) Row

const Batches Table = "batches"

func Copy(ctx context.Context, source driver.Backend, target driver.Backend, o Options) (Report, error)

func CounterKey(key []byte) (name string, err error)

func CounterNames() []string

func CounterRow(name string, last uint64) Row

const Counters Table = "counters"

func DocKey(key []byte) (kind string, id string, err error)

func DocRow(d driver.Doc) Row

const Documents Table = "documents"

var ErrChanged error

var ErrDiffers error

var ErrMoved error

var ErrNotEmpty error

var ErrUnable error

var ErrUnfinished error

const LastRecord = "audit"

const LastRevocation = "revocation"

const LastVersion = "version"

func Leave(ctx context.Context, b driver.Backend, m Move) error

type Mark struct {
	Store   string    "json:\"store\""
	Source  string    "json:\"source\""
	BegunAt time.Time "json:\"begun_at\""
}

func (Mark) Err() error

type Move struct {
	To string    "json:\"to\""
	At time.Time "json:\"at\""
}

func (Move) Err() error

const Moved = "store that has moved"

func NewPage(n int) *Page

type Options struct {
	Source   string
	Live     bool
	Back     bool
	Leave    func(ctx context.Context) error
	DryRun   bool
	PageRows int
	Progress func(Progress)
}

type Page struct {
	Rows []Row
	_    []struct{}
}

func (*Page) Add(r Row) bool

const PageBytes = 4194304

const PageRows = 1000

type Progress struct {
	Table     Table
	Verifying bool
	Rows      int
	Written   int
	Removed   int
}

func ReadMark(ctx context.Context, b driver.Backend) (*Mark, error)

func ReadMove(ctx context.Context, b driver.Backend) (*Move, error)

func RecordKey(key []byte) (seq uint64, err error)

func RecordRow(r driver.Record) Row

func Refusal(ctx context.Context, b driver.Backend, feature string) (refused error, err error)

func Reopen(ctx context.Context, b driver.Backend) error

type Report struct {
	Tables   []TableReport "json:\"tables\""
	Verified bool          "json:\"verified\""
	Finished bool          "json:\"finished\""
}

func RevocationKey(key []byte) (kind string, id string, err error)

func RevocationRow(r driver.Revocation) Row

const Revocations Table = "revocations"

type Row struct {
	Key   []byte
	Value []byte
}

func (Row) Batch() (driver.Batch, error)
func (Row) Counter() (name string, last uint64, err error)
func (Row) Doc() (driver.Doc, error)
func (Row) Record() (driver.Record, error)
func (Row) Revocation() (driver.Revocation, error)
func (Row) Token() (driver.Token, error)
func (Row) Usage() (c driver.Count, daily bool, err error)

type Sum struct {
	Rows   int    "json:\"rows\""
	SHA256 string "json:\"sha256\""
}

type Table string

type TableReport struct {
	Table   Table "json:\"table\""
	Written int   "json:\"written\""
	Removed int   "json:\"removed\""
	Source  Sum   "json:\"source\""
	Target  Sum   "json:\"target\""
	Changed int   "json:\"changed\""
}

func Tables() []Table

func TokenKey(key []byte) (k driver.Key, err error)

func TokenRow(t driver.Token) Row

const Tokens Table = "tokens"

const Unfinished = "copy that is not finished"

const Usage Table = "usage"

func UsageKey(key []byte) (app string, daily bool, at time.Time, product string, err error)

func UsageRow(c driver.Count, daily bool) Row
