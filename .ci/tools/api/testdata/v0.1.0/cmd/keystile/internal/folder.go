package folder // import "github.com/keystile/keystile/cmd/keystile/internal/folder"

import "context"
import "github.com/keystile/keystile/storage"
import "io"
import "net"
import "time"

type Belonging struct {
	Store string    "json:\"store\""
	Since time.Time "json:\"since\""
}

type Folder struct{ _ struct{} }

func (*Folder) BelongTo(b Belonging) error
func (*Folder) Belongs() (b Belonging, err error)
func (*Folder) Companions() (names []string)
func (*Folder) Database() string
func (*Folder) Disown() error
func (*Folder) FirstRun() string
func (*Folder) Forget(now time.Time) (dir string, names []string, err error)
func (*Folder) HasDatabase() (bool, error)
func (*Folder) Journal() string
func (*Folder) KeptKeys(file string) (keys []storage.MasterKey, path string, err error)
func (*Folder) Listen(ctx context.Context) (net.Listener, error)
func (*Folder) Made() bool
func (*Folder) Mail() string
func (*Folder) MasterKeys(file string) (keys []storage.MasterKey, path string, err error)
func (*Folder) NeedDatabase() error
func (*Folder) Path() string
func (*Folder) Restore(now time.Time, fill func(io.Writer) error, check func(path string) error,
	beside ...string) (kept string, err error)
func (*Folder) RetireKey(file string, key storage.MasterKey) (path string, err error)
func (*Folder) Snapshot(fill func(io.Writer) error) (path string, err error)
func (*Folder) Socket() (string, error)
func (*Folder) UnmakeKey() (path string, err error)
func (*Folder) Warning() string
func (*Folder) WriteKeys(file string, keys ...storage.MasterKey) error
