package command

import (
	"math"
	"syscall"
)

// disk returns what is free on the file system of a path, and how large that is, in bytes. Both are NaN
// where it does not say.
func disk(path string) (free, size float64) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return math.NaN(), math.NaN()
	}
	return float64(fs.Bavail) * float64(fs.Bsize), float64(fs.Blocks) * float64(fs.Bsize)
}
