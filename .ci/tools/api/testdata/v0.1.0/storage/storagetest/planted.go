package planted // import "github.com/keystile/keystile/storage/storagetest/planted"

import "github.com/keystile/keystile/storage/driver"
import "testing"

func Run(t *testing.T, open func(t *testing.T) driver.Backend)
