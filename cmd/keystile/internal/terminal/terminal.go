package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// Is reports whether f, which reads or writes, is a file that is open on a terminal.
func Is(f any) bool {
	return control(f, func(fd int) error {
		if !term.IsTerminal(fd) {
			return errors.ErrUnsupported
		}
		return nil
	}) == nil
}

// Width returns the columns of the terminal that f is open on, 0 if it is on none.
func Width(f any) (columns int) {
	if control(f, func(fd int) (err error) {
		columns, _, err = term.GetSize(fd)
		return err
	}) != nil {
		return 0
	}
	return columns
}

// ReadPassword asks for a line on a terminal without showing what is typed. An interrupt while it
// waits ends the process, and the terminal shows what is typed again.
func ReadPassword(from *os.File, to io.Writer, prompt string) (string, error) {
	fmt.Fprint(to, prompt)
	defer fmt.Fprintln(to) // the end of the line was not shown either
	fd := int(from.Fd())   // which makes the file block, as waiting for a person needs
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	interrupted, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	defer close(done)
	go func() {
		select {
		case <-interrupted:
			term.Restore(fd, before)
			os.Exit(130) // as shells say of a program that SIGINT has ended
		case <-done:
		}
	}()
	typed, err := term.ReadPassword(fd)
	return string(typed), err
}

// Confirm asks whether to go on, and returns an error unless the answer is yes.
func Confirm(from io.Reader, to io.Writer, question string) error {
	fmt.Fprintf(to, "%s [y/N] ", question)
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}

// control calls do with the descriptor of an open file.
func control(f any, do func(fd int) error) error {
	file, is := f.(*os.File)
	if !is {
		return os.ErrInvalid
	}
	conn, err := file.SyscallConn() // Fd would make the file block
	if err != nil {
		return err
	}
	if failed := conn.Control(func(fd uintptr) { err = do(int(fd)) }); failed != nil {
		return failed
	}
	return err
}
