package folder

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestMediumThatForgetsIsKnown(t *testing.T) {
	var s syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &s); err != nil || s.Type != 0x01021994 {
		t.Skipf("/dev/shm is no tmpfs here: %#x, %v", s.Type, err)
	}
	for _, path := range []string{"/dev/shm", "/dev/shm/keystile/not/there"} {
		if m, err := On(path); err != nil || m.Name != "tmpfs" || m.Says != memory {
			t.Errorf("%s is on %+v, %v; want tmpfs", path, m, err)
		}
	}
	if m, err := On("/proc/self"); err != nil || m.Name != "" {
		t.Errorf("a file system that is in no table is %+v, %v", m, err)
	}
	if _, err := On(filepath.Join("/proc/self/exe", "x")); err == nil {
		t.Error("a path below a file is on a file system")
	}
}

// The numbers are those of statfs(2), and their names those that mount(8) has.
func TestNetworkDisksAreKnownByTheirNumbers(t *testing.T) {
	for number, name := range map[uint32]string{0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x65735546: "fuse",
		0x01021994: "tmpfs", 0x794c7630: "overlay"} {
		if m := media[number]; m.Name != name || m.Says == "" {
			t.Errorf("%#x is %+v, want %s", number, m, name)
		}
	}
	for _, number := range []uint32{0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1} { // ext4, xfs, btrfs, zfs
		if m, there := media[number]; there {
			t.Errorf("%#x is %+v, and nothing speaks against it", number, m)
		}
	}
}
