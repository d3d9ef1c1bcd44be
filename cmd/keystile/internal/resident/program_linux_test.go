package resident

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mappings returns what this process has.
func mappings(t *testing.T) []mapping {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	defer f.Close()
	return read(f)
}

// own returns how many kB of this program's file are resident in mappings that are given back.
func own(t *testing.T) (kb int) {
	t.Helper()
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	for _, m := range mappings(t) {
		if m.of(file) {
			kb += m.resident
		}
	}
	return kb
}

// touch reads each page of what is given back.
func touch(t *testing.T) {
	t.Helper()
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skipf("this system does not let it: %v", err)
	}
	defer mem.Close()
	file, _ := os.Readlink("/proc/self/exe")
	one := make([]byte, 1)
	for _, m := range mappings(t) {
		for at := m.from; m.of(file) && at < m.to; at += uintptr(os.Getpagesize()) {
			if _, err := mem.ReadAt(one, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestProgramGivesBackItsOwnPagesAndRunsOn(t *testing.T) {
	touch(t)
	before := own(t)
	GiveBack()
	after := own(t)
	if before < 1000 || after > before*3/4 {
		t.Errorf("%d kB of the program are resident, and were %d", after, before)
	}
	touch(t)
	if again := own(t); again <= after {
		t.Errorf("%d kB are resident after all was read again, and were %d", again, after)
	}
}

// A program that was replaced or removed while it runs has its pages from the file that it was.
func TestProgramThatWasRemovedRunsOn(t *testing.T) {
	if os.Getenv("BE_REMOVED") != "" {
		if err := os.Remove(os.Args[0]); err != nil {
			t.Fatal(err)
		}
		GiveBack()
		t.Log("it runs on")
		return
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	file := t.TempDir() + "/program of a test" // with spaces in its name
	if err := os.WriteFile(file, self, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file, "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "BE_REMOVED=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "it runs on") {
		t.Errorf("%v: %s", err, out)
	}
}

// said has mappings as a system shows them, of which the first two may be given back.
const said = `00400000-01907000 r-xp 00000000 fe:00 1234   /opt/key stile
Size:              21532 kB
Rss:               16000 kB
Private_Dirty:       400 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
01908000-03064000 r--p 01508000 fe:00 1234   /opt/key stile
Rss:               9000 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
03064000-03065000 r--p 01508000 fe:00 1234   /opt/key stile
Rss:               4 kB
Private_Dirty:         4 kB
Anonymous:             4 kB
Swap:                  0 kB
03065000-03066000 r--p 01508000 fe:00 1234   /opt/key stile
Rss:               0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  4 kB
03066000-03067000 r--p 01508000 fe:00 1234   /opt/key stile
Rss:               4 kB
Anonymous:             0 kB
03248000-03276000 rw-p 02e48000 fe:00 1234   /opt/key stile
Rss:               0 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
03300000-03301000 r-xs 02e48000 fe:00 1234   /opt/key stile
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 99   /lib/libc.so.6
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
7f0000001000-7f0000002000 r--p 00000000 00:00 0
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
7f0000009000-7f0000008000 r--p 00000000 fe:00 1234   /opt/key stile
x-y r--p 00000000 fe:00 1234   /opt/key stile
`

func TestOnlyPagesOfTheProgramThatWereNeverWrittenAreGivenBack(t *testing.T) {
	all := read(strings.NewReader(said))
	if len(all) != 9 {
		t.Errorf("%d mappings are read, want 9: %+v", len(all), all)
	}
	var given []mapping
	for _, m := range all {
		if m.of("/opt/key stile") {
			given = append(given, m)
		}
	}
	if len(given) != 2 || given[0].from != 0x400000 || given[0].to != 0x1907000 || given[0].resident != 16000 ||
		given[1].from != 0x1908000 {
		t.Errorf("%+v are given back, want the first two", given)
	}
}
