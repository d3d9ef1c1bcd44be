// Command api holds the exported API to what a release has promised of it.
//
//	go -C .ci/tools run ./api                  # what has changed since the last release; 1 if a host would not compile
//	go -C .ci/tools run ./api -write v0.2.0    # write down the API of a release
//
// The API of each release is in testdata, a file of declarations without bodies for each package, so that a review
// shows what a release adds. The newest is what the sources are compared with, by the rules of
// golang.org/x/exp/apidiff. The list "Stability" in the doc.go of the module says how much is promised of a
// package:
//
//	frozen        nothing changes; a new interface, which an implementation may leave out, is allowed
//	stable        what compiles goes on compiling; additions are allowed
//	experimental  changes are printed, and that is all
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "../..", "the folder of the module")
	write := flag.String("write", "", "write the API down as that of this release")
	flag.Parse()
	if err := run(*root, filepath.Join("api", "testdata"), *write, nil); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(root, kept, write string, overlay map[string][]byte) error {
	promises, err := readPromises(filepath.Join(root, "doc.go"))
	if err != nil {
		return err
	}
	now, err := load(root, overlay, "./...")
	if err != nil {
		return err
	}
	if err := promises.cover(now); err != nil {
		return err
	}
	if write != "" {
		return now.writeDown(filepath.Join(kept, write))
	}
	release, err := newest(kept)
	if err != nil {
		return err
	}
	before, err := readDown(filepath.Join(kept, release), now)
	if err != nil {
		return fmt.Errorf("the API of %s: %w", release, err)
	}
	broken := 0
	for _, c := range compare(before, now, promises) {
		fmt.Println(c)
		if c.broken {
			broken++
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d changes break what %s promised: keep the old beside the new, or call the package experimental",
			broken, release)
	}
	fmt.Printf("%d packages keep what %s promised\n", len(before.public), release)
	return nil
}
