package shipper

import (
	"errors"
	"time"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/storage/driver"
)

const (
	defaultBytes = 4 << 20
	mostBytes    = 64 << 20
	mostAge      = time.Hour
)

// Check completes a Config and returns what is wrong with it. One without a Target ships nothing, and is not looked at.
func Check(c *stream.Config) error {
	if c.Target == nil {
		return nil
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultBytes
	}
	switch {
	case c.MaxBytes < 0 || c.MaxBytes > mostBytes:
		return errors.New("stream: Config.MaxBytes is up to 64 MiB")
	case c.MaxAge < 0 || c.MaxAge > mostAge:
		return errors.New("stream: Config.MaxAge is up to an hour")
	case !driver.ValidName(nameOf(*c, stream.Audit)):
		return errors.New("stream: the Name of the Target is not one: some bytes of UTF-8, at most 1,000")
	}
	return nil
}

// nameOf returns what the position of a stream is kept under.
func nameOf(c stream.Config, name string) string { return name + " " + c.Target.Name() }
