// Command release makes what a version of Keystile is handed out as: for each system a tar.gz with the
// program, its manual pages and units, a list of what it is made of (SBOM) and the licences of that; for
// Debian a package; an image for containers; and SHA256SUMS of all. The same commit gives the same bytes.
//
//	go run ./.ci/release                         all of it, into ./dist
//	go run ./.ci/release -targets linux/amd64    for one system
//	go run ./.ci/release licences                writes .github/LICENCES.md anew
//	go run ./.ci/release advisories              judges the modules by the stored list of advisories
//	go run ./.ci/release advisories -refresh     fetches that list anew from vuln.go.dev
//
// README.md beside it says what is done with the files.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch words := os.Args[1:]; {
	case len(words) > 0 && words[0] == "licences":
		err = writeLicences(ctx, ".")
	case len(words) > 0 && words[0] == "advisories":
		err = advise(ctx, ".", words[1:])
	default:
		err = release(ctx, words)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// everywhere lists what the program is made for.
const everywhere = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

func release(ctx context.Context, words []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", "dist", "the folder to write into; it must not be there yet")
	targets := flags.String("targets", everywhere, "the systems, separated by commas")
	committed := flags.Bool("committed", false, "release what is committed, although the checkout has other changes")
	if err := flags.Parse(words); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no command: there are licences and advisories", flags.Arg(0))
	}
	tmp, err := os.MkdirTemp("", "keystile-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	take := checkout
	if *committed {
		take = clone
	}
	s, err := take(ctx, ".", filepath.Join(tmp, "keystile"))
	if err != nil {
		return err
	}
	if err := os.Mkdir(*out, 0o755); err != nil {
		return fmt.Errorf("%w: remove it, or name another folder with -out", err)
	}
	fmt.Printf("keystile %s, commit %s of %s\n", s.version, s.commit[:12], s.at.Format("2006-01-02 15:04:05"))
	return s.make(ctx, tmp, *out, strings.Split(*targets, ","))
}

// make builds for each system, and writes everything and its sums into a folder.
func (s source) make(ctx context.Context, tmp, out string, targets []string) error {
	host, err := s.build(ctx, hostTarget(), filepath.Join(tmp, "host"))
	if err != nil {
		return err
	}
	docs, err := s.docs(ctx, host, filepath.Join(tmp, "docs"))
	if err != nil {
		return err
	}
	for _, target := range targets {
		binary := host
		if target != hostTarget() {
			if binary, err = s.build(ctx, target, filepath.Join(tmp, strings.ReplaceAll(target, "/", "_"))); err != nil {
				return err
			}
		}
		if err := s.handOut(ctx, binary, target, docs, out); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return writeSums(out)
}

// handOut writes the files of one system.
func (s source) handOut(ctx context.Context, binary, target string, docs []entry, out string) error {
	bill, texts, err := s.bill(ctx, binary)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("keystile_%s_%s", s.version, strings.ReplaceAll(target, "/", "_"))
	at := filepath.Join(out, name)
	if err := os.WriteFile(at+".cdx.json", bill, 0o644); err != nil {
		return err
	}
	files, err := s.files(binary, bill, texts, docs)
	if err != nil {
		return err
	}
	if err := writeTarball(at+".tar.gz", below(name, files), s.at); err != nil {
		return err
	}
	system, arch, _ := strings.Cut(target, "/")
	if system != "linux" {
		return nil
	}
	if err := s.writeImage(at+".oci.tar", binary, arch, texts); err != nil {
		return err
	}
	return s.writeDeb(ctx, out, arch, binary, texts, docs)
}
