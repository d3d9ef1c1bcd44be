//go:build !linux

package ledger

import "errors"

// shares says that records are written: what a shared mapping holds after a kill is promised of
// Linux alone.
func shares(string) error { return errors.ErrUnsupported }

func createMapped(string, func(error)) (file, error) { return nil, errors.ErrUnsupported }

func full(error) bool { return false }
