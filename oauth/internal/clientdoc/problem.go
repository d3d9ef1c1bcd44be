package clientdoc

import "fmt"

// Problem says why there is no application at a URL. Its text is for everyone, and holds nothing of
// the network inside.
type Problem struct {
	Text  string
	Away  bool  // the document could not be read: later it may be
	Cause error // for the log
}

func (p *Problem) Error() string { return p.Text }

func (p *Problem) Unwrap() error { return p.Cause }

func wrong(format string, args ...any) *Problem { return &Problem{Text: fmt.Sprintf(format, args...)} }

func away(cause error, format string, args ...any) *Problem {
	return &Problem{Text: fmt.Sprintf(format, args...), Away: true, Cause: cause}
}
