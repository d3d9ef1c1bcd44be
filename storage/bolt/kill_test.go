package bolt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// The child reports the token that was answered; the parent kills it amid the next.
func TestKilledProcessLosesNothing(t *testing.T) {
	const folder = "KEYSTILE_KILLED_IN"
	if dir := os.Getenv(folder); dir != "" {
		writeUntilKilled(t, filepath.Join(dir, "keystile.db"))
	}
	dir := t.TempDir()
	for life := range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessLosesNothing$")
		child.Env = append(os.Environ(), folder+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			t.Fatal(err)
		}
		last, answers := 0, bufio.NewScanner(out)
		for range 20 + 7*life {
			if !answers.Scan() {
				t.Fatalf("the child ended by itself: %v", child.Wait())
			}
			last, _ = strconv.Atoi(answers.Text())
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait()
		holdsUpTo(t, filepath.Join(dir, "keystile.db"), last)
	}
}

func writeUntilKilled(t *testing.T, path string) {
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; ; i++ {
		if _, err := s.Token(t.Context(), numbered(i).Key); err == nil {
			continue // of an earlier life
		}
		if err := s.Issue(t.Context(), numbered(i)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(i)
	}
}

func holdsUpTo(t *testing.T, path string, last int) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("Open(after a kill) = %v, want nil", err)
	}
	defer s.Close()
	for i := 1; i <= last; i++ {
		if _, err := s.Token(t.Context(), numbered(i).Key); err != nil {
			t.Errorf("Token(%d) = %v after a kill, want nil: it was answered", i, err)
		}
	}
}
