package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is a clean checkout of the commit that is released, in a folder of its own.
type source struct {
	dir     string
	version string // without v
	commit  string
	at      time.Time // of the commit: the time of all files
}

// checkout clones the commit that repo has checked out. Changes that are not committed would be in no
// one else's build, so there must be none.
func checkout(ctx context.Context, repo, dir string) (s source, err error) {
	changes, err := run(ctx, repo, nil, "git", "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changes != "" {
		return s, fmt.Errorf("the checkout has changes that are in no commit; commit or stash them first, or leave them "+
			"out with -committed:\n%s", changes)
	}
	return clone(ctx, repo, dir)
}

// clone is checkout of what is committed, whatever else is there.
func clone(ctx context.Context, repo, dir string) (s source, err error) {
	s.dir = dir
	if s.commit, err = run(ctx, repo, nil, "git", "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	if _, err := run(ctx, repo, nil, "git", "clone", "-q", "--shared", "--no-checkout", ".", dir); err != nil {
		return s, err
	}
	if _, err := run(ctx, dir, nil, "git", "checkout", "-q", "--detach", s.commit); err != nil {
		return s, err
	}
	seconds, err := run(ctx, dir, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return s, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, err
	}
	s.at = time.Unix(unix, 0).UTC()
	changelog, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return s, err
	}
	here, err := run(ctx, dir, nil, "git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*")
	if err != nil {
		return s, err
	}
	tags, err := run(ctx, dir, nil, "git", "tag", "--list", "v[0-9]*")
	if err != nil {
		return s, err
	}
	tag := ""
	if all := strings.Fields(here); len(all) > 0 { // the candidate that became the release
		tag = slices.MaxFunc(all, func(a, b string) int { return compare(a[1:], b[1:]) })
	}
	s.version, err = versionFor(tag, strings.Fields(tags), string(changelog), s.at)
	return s, err
}

var (
	tagged  = regexp.MustCompile(`^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)
	heading = regexp.MustCompile(`(?m)^## \[?(Unreleased|((\d+\.\d+\.)(\d+)(-[0-9A-Za-z.-]+)?))(?:[\]\s]|$)`)
)

// versionFor returns the version of the tag of a commit, which the changelog has a section for. A commit
// without one, "", is a step on the way to the version after the newest section, or to that version itself
// while no tag has its name. Later commits have higher versions, and all of them give way to any release
// that may follow.
func versionFor(tag string, tags []string, changelog string, at time.Time) (string, error) {
	sections := heading.FindAllStringSubmatch(changelog, -1)
	if tag != "" {
		found := tagged.FindStringSubmatch(tag)
		if found == nil {
			return "", fmt.Errorf("the tag %s is no version: write v1.2.3", tag)
		}
		told := func(section []string) bool { return section[2] == found[1] }
		if !strings.Contains(found[1], "-") && !slices.ContainsFunc(sections, told) {
			return "", fmt.Errorf("CHANGELOG.md has no section ## %s for the tag %s: write it, and tag that commit", found[1],
				tag)
		}
		return found[1], nil
	}
	if len(sections) == 0 {
		return "", errors.New("CHANGELOG.md has no section of a version, nor ## Unreleased")
	}
	ahead := sections[0][1] == "Unreleased"
	if ahead {
		sections = sections[1:]
	}
	dev := "dev." + at.Format("20060102150405")
	if len(sections) == 0 {
		return "0.1.0-" + dev, nil
	}
	version, minor, patch, rc := sections[0][2], sections[0][3], sections[0][4], sections[0][5]
	switch {
	case rc != "": // 1.0.0-rc.1.dev... is after rc.1 and before rc.2
		return version + "." + dev, nil
	case !ahead && !slices.Contains(tags, "v"+version):
		return version + "-" + dev, nil
	}
	n, err := strconv.Atoi(patch)
	return fmt.Sprintf("%s%d-%s", minor, n+1, dev), err
}

func hostTarget() string { return runtime.GOOS + "/" + runtime.GOARCH }

// build compiles the program for a system, such as linux/amd64, and returns its path. Nothing of this machine
// gets into it: neither paths, nor settings of the go command, nor its version. Tags choose files beside those
// of the program.
func (s source) build(ctx context.Context, target, out string, tags ...string) (string, error) {
	system, arch, _ := strings.Cut(target, "/")
	toolchain, err := run(ctx, s.dir, nil, "go", "mod", "edit", "-json")
	if err != nil {
		return "", err
	}
	wanted := regexp.MustCompile(`"Go": "([^"]+)"`).FindStringSubmatch(toolchain)
	if wanted == nil {
		return "", errors.New("go.mod names no version of Go")
	}
	env := append(s.environ(),
		"GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOTOOLCHAIN=go"+wanted[1], "GOFLAGS=", "GOENV=off", "GOWORK=off",
		"GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0")
	const name = "github.com/keystile/keystile/cmd/keystile/command.version"
	_, err = run(ctx, s.dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-mod=readonly",
		"-tags="+strings.Join(tags, ","),
		"-ldflags", "-s -w -buildid= -X "+name+"=v"+s.version, "-o", out, "./cmd/keystile")
	return out, err
}

// environ is the environment of what may write a time into its files.
func (s source) environ() []string {
	return append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(s.at.Unix(), 10), "TZ=UTC", "LC_ALL=C")
}

// run runs a program to its end and returns what it printed. A nil environment is this process's.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
