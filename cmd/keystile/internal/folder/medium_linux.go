package folder

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// media are the file systems that something speaks against, by the number that statfs(2) has for them.
var media = map[uint32]Medium{
	0x00006969: {"nfs", remote}, 0xff534d42: {"cifs", remote}, 0xfe534d42: {"smb", remote}, 0x0000517b: {"smb", remote},
	0x00c36400: {"ceph", remote}, 0x01021997: {"9p", remote}, 0x5346414f: {"afs", remote}, 0x6b414653: {"afs", remote},
	0x73757245: {"coda", remote},
	0x0bd00bd0: {"lustre", remote}, 0x47504653: {"gpfs", remote}, 0x01161970: {"gfs2", remote},
	0x7461636f: {"ocfs2", remote}, 0x19830326: {"beegfs", remote},
	0x65735546: {"fuse", through}, 0x786f4256: {"vboxsf", through}, 0x6a656a63: {"virtiofs", through},
	0x01021994: {"tmpfs", memory}, 0x858458f6: {"ramfs", memory},
	0x794c7630: {"overlay", layered}, 0x61756673: {"aufs", layered},
}

func mediumOf(path string) (Medium, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(path, &s)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		err = syscall.Statfs(path, &s)
	}
	return media[uint32(s.Type)], err
}
