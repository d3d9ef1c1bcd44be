package admin

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// headerFlag is the flag of headers that calls carry beside the credential.
const headerFlag = "header"

const headerHelp = "one more header of each call, a secret such as a second key; @FILE reads such lines from a file " +
	"and @- from the " +
	"standard input, which keeps them out of the process list"

// maxHeaderFile bounds a file of headers, in bytes.
const maxHeaderFile = 64 << 10

// readHeaderFiles replaces each header that is given as @FILE by the lines of that file: it is read by the process of
// the caller, because a server may have another view of the file system.
func readHeaderFiles(call cli.Call) (cli.Args, error) {
	args, given := call.Args, call.Args.Flags[headerFlag]
	if !slices.ContainsFunc(given, func(h string) bool { return strings.HasPrefix(h, "@") }) {
		return args, nil
	}
	var all []string
	for _, h := range given {
		file, is := strings.CutPrefix(h, "@")
		if !is {
			all = append(all, h)
			continue
		}
		text, err := readHeaderFile(file, call.Stdin)
		if err != nil {
			return args, err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[headerFlag] = all
	return args, nil
}

func readHeaderFile(file string, stdin io.Reader) ([]byte, error) {
	text, err := readUpTo(file, stdin, maxHeaderFile)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxHeaderFile:
		return nil, cli.Usage("--%s @%s has more than %d bytes", headerFlag, file, maxHeaderFile)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, cli.Usage("--%s @%s reads lines such as X-API-Key: ..., and there are none", headerFlag, file)
	}
	return text, nil
}

// onceStdin refuses a command with two flags that would both read the standard input.
func onceStdin(args cli.Args) error {
	var readers []string
	for _, flag := range []string{openAPIFlag, toolsFlag, authFlag} {
		if args.Get(flag) == "-" {
			readers = append(readers, "--"+flag)
		}
	}
	for _, h := range args.Flags[headerFlag] {
		if h == "@-" {
			readers = append(readers, "--"+headerFlag)
		}
	}
	if len(readers) > 1 {
		return cli.Usage("%s both read the standard input; give one of them a file", strings.Join(readers[:2], " and "))
	}
	return nil
}

// headersOf returns the headers of --header. Its error repeats none: it may be the secret alone.
func headersOf(args cli.Args) (map[string]storage.Secret, error) {
	headers := map[string]storage.Secret{}
	for _, h := range args.Flags[headerFlag] {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, cli.Usage("--%s has a name, a colon and a value, such as 'X-API-Key: ...'", headerFlag)
		}
		if _, twice := headers[name]; twice {
			return nil, cli.Usage("--%s gives %q twice", headerFlag, name)
		}
		if !utf8.ValidString(h) {
			return nil, cli.Usage("--%s is not UTF-8", headerFlag)
		}
		headers[name] = storage.NewSecret(strings.TrimSpace(value))
	}
	return headers, nil
}
