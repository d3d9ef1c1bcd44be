package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file, or a folder, of something that is handed out.
type entry struct {
	name string      // with slashes; a folder's ends in one
	mode fs.FileMode // permissions, and the sticky bit
	data []byte
	user int // number of the user and the group that own it
}

func (e entry) isDir() bool { return strings.HasSuffix(e.name, "/") }

// below puts entries into a folder.
func below(dir string, all []entry) []entry {
	all = slices.Clone(all)
	for i := range all {
		all[i].name = dir + "/" + all[i].name
	}
	return all
}

// withFolders adds the folders that entries are in, and sorts.
func withFolders(all []entry) []entry {
	seen := map[string]bool{}
	for _, e := range all {
		seen[e.name] = true
	}
	for _, e := range slices.Clone(all) {
		for dir := path.Dir(strings.TrimSuffix(e.name, "/")); dir != "."; dir = path.Dir(dir) {
			if name := dir + "/"; !seen[name] {
				seen[name] = true
				all = append(all, entry{name: name, mode: 0o755})
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return all
}

// writeTar writes entries with one time and with owners by number.
func writeTar(w io.Writer, all []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range withFolders(all) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode.Perm()), Size: int64(len(e.data)),
			ModTime: at, Uid: e.user, Gid: e.user, Format: tar.FormatPAX}
		if e.isDir() {
			h.Typeflag = tar.TypeDir
		}
		if e.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// packed is writeTar, compressed.
func packed(all []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(z, all, at); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func writeTarball(name string, all []entry, at time.Time) error {
	b, err := packed(all, at)
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}

// lay writes entries into a folder of the file system, with one time. It does not set their owner.
func lay(dir string, all []entry, at time.Time) error {
	all = withFolders(all)
	for _, e := range all {
		name := filepath.Join(dir, filepath.FromSlash(e.name))
		var err error
		if e.isDir() {
			err = os.MkdirAll(name, 0o755)
		} else {
			err = os.WriteFile(name, e.data, 0o600)
		}
		if err == nil {
			err = os.Chmod(name, e.mode)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range slices.Backward(all) { // a folder changes with what is written into it
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(e.name)), at, at); err != nil {
			return err
		}
	}
	return os.Chtimes(dir, at, at)
}

// files are those of the archive of a system.
func (s source) files(binary string, bill, texts []byte, docs []entry) ([]entry, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	all := append([]entry{
		{name: "keystile", mode: 0o755, data: program},
		{name: "sbom.cdx.json", mode: 0o644, data: bill},
		{name: "LICENCES.txt", mode: 0o644, data: texts},
	}, docs...)
	return s.add(all, map[string]string{
		"LICENSE": "LICENSE", "README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md", "INSTALL.md": ".ci/release/README.md",
		"systemd/keystile.service": ".ci/release/systemd/keystile.service",
		"systemd/keystile.socket":  ".ci/release/systemd/keystile.socket",
		"etc/keystile.yaml":        ".ci/release/debian/keystile.yaml",
	})
}

// add adds files of the checkout, by the name they get.
func (s source) add(all []entry, files map[string]string) ([]entry, error) {
	for name, from := range files {
		data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(from)))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: name, mode: 0o644, data: data})
	}
	return all, nil
}

// docs has the program write its completions, and itself with the tag manual its manual pages.
func (s source) docs(ctx context.Context, binary, dir string) (all []entry, err error) {
	writer, err := s.build(ctx, hostTarget(), dir+".writer", "manual")
	if err != nil {
		return nil, err
	}
	if _, err := run(ctx, "", s.environ(), writer, "man", dir); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		data, err := os.ReadFile(filepath.Join(dir, p.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: "man/" + p.Name(), mode: 0o644, data: data})
	}
	for shell, name := range map[string]string{"bash": "keystile.bash", "zsh": "_keystile", "fish": "keystile.fish"} {
		text, err := run(ctx, "", s.environ(), binary, "completion", shell)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: "completions/" + name, mode: 0o644, data: []byte(text + "\n")})
	}
	return all, nil
}

// writeSums writes SHA256SUMS, as sha256sum -c reads it.
func writeSums(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), f.Name())
		fmt.Printf("%9d  %s\n", len(data), f.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(text.String()), 0o644)
}
