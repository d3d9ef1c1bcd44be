package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeDeb writes the package for Debian and what is made of it. dpkg-deb gives everything in it to root.
func (s source) writeDeb(ctx context.Context, out, arch, binary string, texts []byte, docs []entry) error {
	all, err := s.debFiles(binary, texts, docs)
	if err != nil {
		return err
	}
	size := 0
	for _, e := range all {
		size += len(e.data)
	}
	control, err := s.debControl(arch, size)
	if err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "keystile-deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.Chmod(tree, 0o755); err != nil {
		return err
	}
	if err := lay(tree, append(all, control...), s.at); err != nil {
		return err
	}
	name := filepath.Join(out, fmt.Sprintf("keystile_%s_%s.deb", debVersion(s.version), arch))
	// With one thread, because how many there are shows in the bytes.
	_, err = run(ctx, "", s.environ(), "dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z3", "--build", tree,
		name)
	return err
}

// debVersion writes a version as Debian orders it: what comes before a release, before it.
func debVersion(version string) string { return strings.Replace(version, "-", "~", 1) }

// debFiles are those that are installed.
func (s source) debFiles(binary string, texts []byte, docs []entry) ([]entry, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	all := []entry{{name: "usr/bin/keystile", mode: 0o755, data: program},
		{name: "usr/share/doc/keystile/LICENCES.txt.gz", mode: 0o644, data: texts}}
	for _, d := range docs {
		switch dir, name, _ := strings.Cut(d.name, "/"); {
		case dir == "man":
			d.name = "usr/share/man/man1/" + name + ".gz"
		case name == "_keystile":
			d.name = "usr/share/zsh/vendor-completions/" + name
		case strings.HasSuffix(name, ".fish"):
			d.name = "usr/share/fish/vendor_completions.d/" + name
		default:
			d.name = "usr/share/bash-completion/completions/keystile"
		}
		all = append(all, d)
	}
	changelog := fmt.Sprintf("keystile (%s) unstable; urgency=medium\n\n"+
		"  * What changed: /usr/share/doc/keystile/CHANGELOG.md.gz\n\n -- %s  %s\n", debVersion(s.version), maintainer,
		s.at.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	all = append(all, entry{name: "usr/share/doc/keystile/changelog.gz", mode: 0o644, data: []byte(changelog)})
	all, err = s.add(all, map[string]string{
		"usr/share/doc/keystile/CHANGELOG.md.gz":  "CHANGELOG.md",
		"usr/share/doc/keystile/copyright":        ".ci/release/debian/copyright",
		"usr/share/doc/keystile/README.md.gz":     ".ci/release/README.md",
		"usr/lib/systemd/system/keystile.service": ".ci/release/systemd/keystile.service",
		"usr/lib/systemd/system/keystile.socket":  ".ci/release/systemd/keystile.socket",
		"etc/keystile/keystile.yaml":              ".ci/release/debian/keystile.yaml",
		"usr/share/lintian/overrides/keystile":    ".ci/release/debian/lintian-overrides",
	})
	for i := range all {
		if strings.HasSuffix(all[i].name, ".gz") {
			all[i].data = squeeze(all[i].data)
		}
		if all[i].name == "etc/keystile/keystile.yaml" {
			all[i].mode = 0o640 // whoever writes a secret into it all the same has it read by few
		}
	}
	return all, err
}

func squeeze(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	z.Write(data)                                         // a buffer takes everything
	z.Close()
	return b.Bytes()
}

const maintainer = "The Keystile authors <keystile@users.noreply.github.com>"

// debControl are the files that dpkg reads and runs.
func (s source) debControl(arch string, size int) ([]entry, error) {
	control := fmt.Sprintf("Package: keystile\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nSection: net\n"+
		"Priority: optional\nInstalled-Size: %d\nDepends: passwd\nRecommends: ca-certificates\n"+
		"Suggests: postgresql, redis-server\nHomepage: https://github.com/keystile/keystile\n"+
		"Description: identity provider, API gateway and tool bus in one program\n"+
		" OAuth 2.1 and OpenID Connect, sign-in pages, a gateway with quotas and an\n"+
		" audit trail, and registered APIs as tools at one MCP endpoint.\n",
		debVersion(s.version), arch, maintainer, (size+1023)/1024)
	all := []entry{
		{name: "DEBIAN/control", mode: 0o644, data: []byte(control)},
		{name: "DEBIAN/conffiles", mode: 0o644, data: []byte("/etc/keystile/keystile.yaml\n")},
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		data, err := os.ReadFile(filepath.Join(s.dir, ".ci", "release", "debian", name))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: "DEBIAN/" + name, mode: fs.FileMode(0o755), data: data})
	}
	return all, nil
}
