package secret // import "github.com/keystile/keystile/storage/secret"

import "log/slog"

func Draw() Secret

type MasterKey struct{ _ []struct{} }

func (MasterKey) Bytes() ([]byte, error)
func (MasterKey) ID() string
func (MasterKey) Text() string

func New(text string) Secret

func NewMasterKey() MasterKey

func ParseMasterKey(text string) (MasterKey, error)

type Secret struct{ _ []struct{} }

func (Secret) Equal(text string) bool
func (Secret) GoString() string
func (Secret) IsZero() bool
func (Secret) LogValue() slog.Value
func (Secret) MarshalText() ([]byte, error)
func (Secret) Reveal() string
func (Secret) String() string
