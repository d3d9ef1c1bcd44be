//go:build !linux

package tokenlog

import "os"

func flush(f *os.File) error { return f.Sync() }
