package s3 // import "github.com/keystile/keystile/gateway/stream/s3"

import "context"
import "github.com/keystile/keystile/gateway/stream"
import "github.com/keystile/keystile/storage"
import "time"

type Config struct {
	Endpoint     string
	Region       string
	Bucket       string
	Prefix       string
	PathStyle    bool
	AccessKey    string
	SecretKey    storage.Secret
	SessionToken storage.Secret
	Encryption   string
	KMSKey       string
	Timeout      time.Duration
}

func (*Config) Check() error

func New(c Config) (*Target, error)

type Target struct{ _ []struct{} }

func (*Target) Close(ctx context.Context) error
func (*Target) Name() string
func (*Target) Put(ctx context.Context, b stream.Batch) error
