package traced // import "github.com/keystile/keystile/storage/traced"

import "github.com/keystile/keystile/storage/driver"

func New(b driver.Backend) driver.Backend
