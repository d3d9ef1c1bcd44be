package storagetest // import "github.com/keystile/keystile/storage/storagetest"

import "github.com/keystile/keystile/storage/driver"
import "testing"
import "time"

func Bench(b *testing.B, open func(b *testing.B) driver.Backend)

func Broken(t *testing.T, path string, patience time.Duration, open func(t *testing.T, dir string) driver.Backend) string

func Nodes(nodes ...driver.Backend) driver.Backend

func Run(t *testing.T, open func(t *testing.T) driver.Backend)

func RunDurable(t *testing.T, open func(t *testing.T, dir string) driver.Backend)

func RunTransfer(t *testing.T, open func(t *testing.T) driver.Backend)
