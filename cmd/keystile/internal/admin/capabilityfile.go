package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
)

const (
	documentPath = "/document"       // where a server takes commands that bring one
	maxFile      = 33 << 20          // bytes; what is too large for the registrar it says itself
	maxDocument  = 2*maxFile + 1<<20 // bytes of a command that brings one: every quote is escaped
	documentWait = 5 * time.Minute   // for its answer
	large        = 1 << 20           // bytes of a document from which on its stages are told everywhere
)

// readDocument replaces the file of a flag by what is in it: it is read by the process of
// the caller, because a server may have another view of the file system.
func readDocument(call cli.Call) (cli.Args, *progress, error) {
	args := call.Args
	tell := &progress{w: call.Stderr, on: terminal.Is(call.Stderr)}
	flag := openAPIFlag
	if len(args.Flags[toolsFlag]) > 0 {
		flag = toolsFlag
	}
	file := args.Get(flag)
	switch {
	case len(args.Flags[openAPIFlag]) > 0 && len(args.Flags[toolsFlag]) > 0:
		return args, tell, cli.Usage("--openapi and --tools are two ways to say the same; give one of them")
	case len(args.Flags[flag]) == 0:
		return args, tell, nil
	}
	tell.stage("reading %s", file)
	text, err := read(file, call.Stdin)
	if err != nil {
		return args, tell, err
	}
	if flag == openAPIFlag && !utf8.Valid(text) && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		// On the way to a server it would become another text; YAML has to be read as it is.
		return args, tell, fmt.Errorf("%s is not UTF-8: save it as UTF-8", file)
	}
	if len(text) >= large && !tell.on {
		tell.on = true
		tell.stage("read %d bytes", len(text))
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[flag] = []string{string(text)}
	return args, tell, nil
}

// readUpTo reads a file, or stdin for "-". It stops one byte after the limit, so that its caller can tell.
func readUpTo(file string, stdin io.Reader, limit int64) ([]byte, error) {
	from := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	return io.ReadAll(io.LimitReader(from, limit+1))
}

func read(file string, stdin io.Reader) ([]byte, error) {
	text, err := readUpTo(file, stdin, maxFile)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s has more than %d bytes: remove examples from the document, or split it", file, maxFile)
	case len(text) == 0:
		return nil, cli.Usage("%s is empty", file)
	}
	return text, nil
}

// progress tells what is being done with a document that takes a while. The zero progress
// is silent.
type progress struct {
	w    io.Writer
	on   bool
	last string
}

// stage tells that something begins, or is done; once, however often it is said.
func (p *progress) stage(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); p.on && text != p.last {
		p.last = text
		fmt.Fprintf(p.w, "keystile: %s\n", text)
	}
}

// ask has the server behind a socket run the command.
func (c command) ask(ctx context.Context, socket string, args cli.Args, tell *progress) (string, error) {
	if !c.brings {
		return ask(ctx, socket, requestOf(c.name, args), c.wait)
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(requestOf(c.name, args)); err != nil {
		return "", err
	}
	return exchange(ctx, socket, documentPath, documentWait, &sending{tell: tell, from: &body, bytes: body.Len()})
}

// sending tells when a body begins to leave and when all of it has: from then on the
// server reads the document.
type sending struct {
	tell  *progress
	from  io.Reader
	bytes int
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err == io.EOF {
		s.tell.stage("parsing")
	} else {
		s.tell.stage("sending %d bytes to the server", s.bytes)
	}
	return n, err
}
