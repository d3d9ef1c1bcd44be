package resident

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// giveBackProgram gives the pages of the program's own file back, which the system has in its cache of files.
func giveBackProgram() {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // there is no /proc: nothing is given back
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range read(maps) {
		if m.of(file) {
			// Where it fails the pages stay, which costs memory and nothing else.
			syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
		}
	}
}

// mapping is a part of the process's memory.
type mapping struct {
	from, to uintptr
	may      string // what is allowed there: "r-xp"
	file     string // "": none
	shared   bool   // each page is the file's, and none a copy that this process has written
	resident int    // kB
}

// of reports whether a mapping is of a file, cannot be written to, and never was: a page that was written, as those
// that a loader relocates before it protects them, would be lost.
func (m mapping) of(file string) bool {
	return m.file == file && m.shared && (m.may == "r--p" || m.may == "r-xp")
}

// read reads the lines of /proc/PID/smaps, as far as they can be read.
func read(smaps io.Reader) (all []mapping) {
	copies := map[string]bool{"Anonymous:": true, "Swap:": true}
	none := 0
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		if m, ok := parse(lines.Text()); ok {
			all, none = append(all, m), 0
			continue
		}
		f := strings.Fields(lines.Text())
		if len(all) == 0 || len(f) < 2 {
			continue
		}
		last := &all[len(all)-1]
		n, err := strconv.Atoi(f[1])
		switch {
		case f[0] == "Rss:" && err == nil:
			last.resident = n
		case copies[f[0]] && err == nil && n == 0:
			none++
			last.shared = none == len(copies)
		}
	}
	return all
}

// parse reads the first line of a mapping.
func parse(line string) (m mapping, ok bool) {
	f := strings.SplitN(line, " ", 6) // addresses, permissions, offset, device, inode, and a name with spaces around it
	if len(f) < 5 || len(f[1]) != 4 {
		return m, false
	}
	from, to, ok := strings.Cut(f[0], "-")
	first, err := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if !ok || err != nil || err2 != nil || end <= first {
		return m, false
	}
	m = mapping{from: uintptr(first), to: uintptr(end), may: f[1]}
	if len(f) == 6 {
		m.file = strings.TrimLeft(f[5], " ")
	}
	return m, true
}
