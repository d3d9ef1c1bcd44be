package folder // import "github.com/keystile/keystile/cmd/keystile/internal/folder"

import "context"
import "github.com/keystile/keystile/storage"
import "io"
import "net"
import "time"

type Folder struct{ _ struct{} }

func (*Folder) Database() string
func (*Folder) FirstRun() string
func (*Folder) Journal() string
func (*Folder) KeptKeys(file string) (keys []storage.MasterKey, path string, err error)
func (*Folder) Listen(ctx context.Context) (net.Listener, error)
func (*Folder) Made() bool
func (*Folder) Mail() string
func (*Folder) MasterKeys(file string) (keys []storage.MasterKey, path string, err error)
func (*Folder) Path() string
func (*Folder) Restore(now time.Time, fill func(io.Writer) error, check func(path string) error, beside ...string) (kept string, err error)
func (*Folder) RetireKey(file string, key storage.MasterKey) (path string, err error)
func (*Folder) Snapshot(fill func(io.Writer) error) (path string, err error)
func (*Folder) Socket() (string, error)
func (*Folder) Warning() string
func (*Folder) WriteKeys(file string, keys ...storage.MasterKey) error
