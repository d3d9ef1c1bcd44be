package folder

import "fmt"

// Medium is the file system that files are kept on.
type Medium struct {
	Name string // nfs, tmpfs; "" for one that nothing speaks against
	Says string // what it means for files that have to be there after a crash
}

// On returns the file system that a path, or the nearest folder above it that is there, is on.
func On(path string) (Medium, error) {
	m, err := mediumOf(path)
	if err != nil {
		return Medium{}, fmt.Errorf("the file system of %s: %w", path, err)
	}
	return m, nil
}

// Reasons against a file system.
const (
	remote  = "it is another machine's: locks and fsync may not hold there, and every call waits for the network"
	memory  = "it is in memory: what is written there is gone when the machine, or the container, ends"
	layered = "it is the container's own layer: what is written there is gone with the container"
	through = "a program of its own keeps the files: locks and fsync are what that program makes of them"
)
