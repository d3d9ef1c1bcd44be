package oteltrace // import "github.com/keystile/keystile/storage/oteltrace"

import "github.com/keystile/keystile/storage/driver"

func New(b driver.Backend) driver.Backend
