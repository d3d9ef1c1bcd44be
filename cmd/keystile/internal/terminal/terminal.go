package terminal

import (
	"io"
	"os"
)

// Is reports whether w is a file that is open on a terminal.
func Is(w io.Writer) bool {
	f, is := w.(*os.File)
	if !is {
		return false
	}
	conn, err := f.SyscallConn() // Fd would make the file block
	if err != nil {
		return false
	}
	yes := false
	err = conn.Control(func(fd uintptr) { yes = answers(fd) })
	return err == nil && yes
}
